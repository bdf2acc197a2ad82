"""The types `grammar` and `regex`, whose content is a grammar of another notation."""

from __future__ import annotations

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError
from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.errors import reraise_at
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.lowering import EmbeddedGrammar, Lowering


def lower_grammar(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """The texts of a grammar in the EBNF or the Lark dialect."""
    from grammar_core.grammar import Grammar

    text = fields.text("grammar")
    syntax = fields.choice("syntax", ("ebnf", "lark"))

    def build() -> EmbeddedGrammar:
        if syntax == "ebnf":
            grammar = Grammar.from_ebnf(text)
        else:
            grammar = Grammar.from_lark(text, tokenizer_info=lowering.tokenizer_info)
        return grammar.rules, grammar.root

    return Lowered(lowering.embed((syntax, text), build, fields.pointer_to("grammar")))


def lower_regex(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """The texts that the whole `pattern` matches."""
    from grammar_core.grammar import Grammar

    pattern = fields.text("pattern")
    try:
        return Lowered(Grammar.from_regex(pattern).rules[0].body)
    except GrammarError as error:
        check_now()
        reraise_at(error, fields.pointer_to("pattern"))
