"""A grammar: rules and the one to start from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from grammar_core.frontends.ebnf.parser import parse_ebnf
from grammar_core.frontends.json_schema.documents import schema_text
from grammar_core.frontends.json_schema.frontend import (
    SchemaOptions,
    builtin_json_rules,
    check_options,
    check_types,
    refuse_empty_schema,
    schema_rules,
)
from grammar_core.frontends.json_schema.layout import LayoutOptions
from grammar_core.frontends.lark.assembly import ROOT as LARK_ROOT
from grammar_core.frontends.lark.assembly import parse_lark
from grammar_core.frontends.regex import parse_regex
from grammar_core.frontends.structural_tag import (
    Document,
    lower_structural_tag,
    read_document,
    refuse_empty_schemas,
)
from grammar_core.ir.combination import gather_rules
from grammar_core.ir.nodes import (
    CharClass,
    Choice,
    Expr,
    Members,
    Regex,
    Rule,
    Sequence,
    Substring,
    TagDispatch,
    TokenTagDispatch,
)
from grammar_core.ir.printer import print_grammar
from grammar_core.ir.serializer import deserialize_rules, serialize_rules
from grammar_core.ir.validation import validate_rules
from grammar_core.ir.warnings import GrammarWarning, find_warnings
from grammar_core.passes.expand_macros import expand_macros
from grammar_core.rule_replacement import Replacement, replace_rules
from grammar_core.sampling import sample_sentences

_PRINTED_MACROS = (Members, Substring, TagDispatch, TokenTagDispatch)

if TYPE_CHECKING:
    from grammar_core.tokenizer_info import TokenizerInfo


Explanation: TypeAlias = Callable[[], object]
"""Asked only of a grammar that turned out to have no sentence: raises the error that says where that comes
from, if what the grammar was built from is to blame."""


def _explain_nothing() -> None:
    """For grammars of which nothing is known but their rules."""


def _explain_by_any(explanations: Iterable[Explanation]) -> None:
    for explain in explanations:
        explain()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grammar:
    """An immutable set of rules and the name of the root rule. Build one with a `from_…` method."""

    rules: tuple[Rule, ...]
    root: str
    explain_emptiness: Explanation = _explain_nothing

    @classmethod
    def from_ebnf(cls, text: str, *, root_rule_name: str = "root") -> Grammar:
        """Parse EBNF (GBNF) text.

        Raises GrammarError, with line and column, for text that is not a grammar, and its subclass
        GrammarLimitError for text beyond a limit on length, rules, nesting or repetition counts.

            Grammar.from_ebnf('root ::= "a" | "b"')
        """
        return cls(parse_ebnf(text, root_rule_name=root_rule_name), root_rule_name)

    @classmethod
    def from_regex(cls, pattern: str, *, flags: str | None = None) -> Grammar:
        """The texts that a regular expression of ECMAScript syntax matches from beginning to end.

        `flags` are any of `i`, `m`, `s`, `u`; a dot is any character where they are None. Raises RegexError,
        with the column, for what is no such expression or not regular (back-references), and
        GrammarLimitError for one beyond a limit.

            Grammar.from_regex(r"[0-9]{5}(-[0-9]{4})?")
        """
        body = Regex(pattern, False, flags, parse_regex(pattern, flags=flags))
        return cls((Rule("root", body),), "root")

    @classmethod
    def from_structural_tag(
        cls,
        tag: Any,
        triggers: Iterable[str] | None = None,
        *,
        tokenizer_info: TokenizerInfo | None = None,
    ) -> Grammar:
        """The texts that a structural tag describes; docs/structural_tags.md lists the types of formats.

        `tag`: JSON text, an object, a model that has `model_dump`, or, with their `triggers`, a list of
        items of the older form. `tokenizer_info` is needed where tokens are given by their text; with it,
        the texts of the tag are also matched by control tokens that are written like parts of them.
        Raises StructuralTagError, with a JSON pointer, and its subclass StructuralTagLimitError.

            content = {"type": "regex", "pattern": "[0-9]+"}
            Grammar.from_structural_tag({"type": "tag", "begin": "<id>", "content": content, "end": "</id>"})
        """
        return grammar_of_tag(read_document(tag, triggers), tokenizer_info)

    @classmethod
    def from_lark(
        cls,
        text: str,
        *,
        tokenizer_info: TokenizerInfo | None = None,
        named_grammars: Mapping[str, str | Grammar] | None = None,
    ) -> Grammar:
        """Parse text in the Lark dialect, whose rule `start` is the root.

        `tokenizer_info` is needed for special tokens by name and the wildcard. `named_grammars` are what
        `@name` refers to: Lark texts or grammars. Raises GrammarError, with line and column, for text that
        is not a grammar, and its subclass GrammarLimitError for text beyond a limit.

            Grammar.from_lark('start: "a" | "b"')
        """
        rules = parse_lark(text, tokenizer_info=tokenizer_info, named_grammars=named_grammars)
        return cls(rules, LARK_ROOT)

    @classmethod
    def from_json_schema(
        cls,
        schema: str | dict[str, Any] | bool | type[Any],
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        whitespace_pattern: str | None = None,
        any_order: bool = False,
        lexical: Literal["natural", "any"] = "natural",
        loosen: Iterable[str] = (),
        documents: Mapping[str, Any] | None = None,
    ) -> Grammar:
        """The JSON texts of the values that a JSON schema of draft 4 to 2020-12 allows.

        `schema` is JSON text, what such text would parse to, or a pydantic model class. White space between
        the parts of a value is free; `max_whitespace_cnt` bounds each gap, `whitespace_pattern` is a regular
        expression for it (BOUNDED_WHITESPACE is one under which no text is endless). Without
        `any_whitespace` the texts are those of `json.dumps` with `indent` and `separators`. `strict_mode`
        closes objects that declare keys and arrays that declare first items unless they say what else may
        follow. Keys come in the schema's order, and others between them; with `any_order` in any order.
        `lexical="any"` allows every spelling of numbers and keys instead of the natural one. `loosen` names
        keywords that need not hold where they cannot be enforced. `documents` are schemas by their URI that
        `$ref` may refer to.

        Raises JsonSchemaError, with the JSON pointer of a keyword, for what is no schema or cannot be
        enforced exactly, JsonSchemaLimitError for a schema beyond a limit, ValueError for options that make
        no sense.

            Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}, "maxItems": 3})
        """
        layout = LayoutOptions(any_whitespace, indent, separators, max_whitespace_cnt, whitespace_pattern)
        loosened = frozenset(loosen)
        check_types(
            {"any_whitespace": any_whitespace, "strict_mode": strict_mode, "any_order": any_order}, documents
        )
        check_options(lexical, loosened)
        options = SchemaOptions(layout, strict_mode, any_order, lexical, loosened)
        text = schema_text(schema)
        rules = schema_rules(text, options, documents or {})
        return cls(rules, "root", partial(refuse_empty_schema, text, options, documents or {}))

    @classmethod
    def builtin_json_grammar(cls) -> Grammar:
        """Every JSON text that is an object or an array, white space free between its parts."""
        return cls(builtin_json_rules(), "root")

    @classmethod
    def from_rules(cls, rules: Iterable[Rule], *, root_rule_name: str = "root") -> Grammar:
        """A grammar of rules built in code. Raises GrammarError unless they form one."""
        rules = tuple(rules)
        validate_rules(rules, root_rule_name)
        return cls(rules, root_rule_name)

    @classmethod
    def union(cls, *grammars: Grammar) -> Grammar:
        """The grammar of every sentence of any of the grammars; of none, a grammar without sentences.

        Rules keep their options, and their names unless two grammars share one.
        """
        rules, roots = gather_rules((grammar.rules, grammar.root) for grammar in grammars)
        body: Expr = Choice(tuple(roots)) if roots else CharClass(())
        return cls((Rule("root", body), *rules), "root", _explanation_of(grammars))

    @classmethod
    def concat(cls, *grammars: Grammar) -> Grammar:
        """The grammar of a sentence of each grammar one after another; of none, of the empty sentence."""
        rules, roots = gather_rules((grammar.rules, grammar.root) for grammar in grammars)
        body = Sequence(tuple(roots))
        return cls((Rule("root", body), *rules), "root", _explanation_of(grammars))

    def replace_rules(self, replacements: Mapping[str, Replacement]) -> Grammar:
        """The grammar in which the named rules have other bodies; they keep their options.

        A replacement is a grammar, whose root counts and whose other rules stay its own; several texts,
        any one of which is meant literally; or EBNF text: a body that may use the rules of this grammar,
        or a whole grammar. Raises RuleReplacementError, with the rule's name, where that is no such thing.

            grammar.replace_rules({"table": ["users", "orders"], "number": "[0-9]{1,6}"})
        """
        return Grammar(replace_rules(self.rules, replacements), self.root)

    def explained_by(self, explain: Explanation) -> Grammar:
        """The grammar whose `explain_emptiness` asks `explain` first."""
        explanations = (explain, self.explain_emptiness)
        return replace(self, explain_emptiness=partial(_explain_by_any, explanations))

    @classmethod
    def deserialize_json(cls, json_string: str) -> Grammar:
        """Rebuild what `serialize_json` wrote.

        Raises DeserializeFormatError for any other text, DeserializeVersionError for another version.
        """
        return cls(*deserialize_rules(json_string))

    def serialize_json(self) -> str:
        """The grammar as JSON, for `deserialize_json`."""
        return serialize_rules(self.rules, self.root)

    def warnings(self) -> tuple[GrammarWarning, ...]:
        """Rules that are never used and rules that cannot match any finite text."""
        return find_warnings(self.rules, self.root)

    def sample(
        self,
        n: int = 1,
        seed: int = 0,
        *,
        max_length: int = 200,
        tokenizer_info: TokenizerInfo | None = None,
    ) -> list[str]:
        """`n` sentences, the same for the same seed, which together try the alternatives of the rules.

        A sentence has at most `max_length` characters, or as few as the grammar allows if that is more.
        `tokenizer_info` is needed where the grammar names tokens. Raises GrammarError if it does and there
        is none, if the grammar has no sentence, or if it has none of less than a million characters.
        """
        return sample_sentences(
            self.rules, self.root, n, seed, max_length=max_length, tokenizer_info=tokenizer_info
        )

    def __str__(self) -> str:
        """The grammar as EBNF text whose root rule is `root`; parsing it gives the same language."""
        return print_grammar(expand_macros(self.rules, but=_PRINTED_MACROS), self.root)

    def __repr__(self) -> str:
        return f"<Grammar of {len(self.rules)} rules, root {self.root!r}>"


def _explanation_of(grammars: Iterable[Grammar]) -> Explanation:
    """Those of all grammars, without the grammars."""
    return partial(_explain_by_any, tuple(grammar.explain_emptiness for grammar in grammars))


def grammar_of_tag(document: Document, tokenizer_info: TokenizerInfo | None) -> Grammar:
    """The texts that a structural tag describes, once `read_document` has read it."""
    rules = lower_structural_tag(document, tokenizer_info)
    return Grammar(rules, "root", partial(refuse_empty_schemas, document, tokenizer_info))
