"""Why a text is, or is not, in the language of a grammar: which rules are active and what may come next.

print(explain_text(Grammar.from_ebnf('root ::= "[" [0-9]+ "]"'), "[12x"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grammar_core.diagnostics.explainer import Explainer
from grammar_core.diagnostics.explanation import ActiveRule, Expected, Explanation
from grammar_core.diagnostics.positions import TextPosition

if TYPE_CHECKING:
    from grammar_core.grammar import Grammar

__all__ = ["ActiveRule", "Expected", "Explainer", "Explanation", "TextPosition", "explain_text"]


def explain_text(grammar: Grammar, text: str | bytes) -> Explanation:
    """What `grammar` says about `text`, which may be anything; tokens that the grammar names match no text.

    Raises GrammarError for a root that matches no finite text, GrammarLimitError for a text that takes more
    than about ten seconds, TypeError for what is no Grammar or no text.
    """
    from grammar_core.grammar import Grammar

    if not isinstance(grammar, Grammar):
        raise TypeError(f"explain_text takes a Grammar, not {type(grammar).__name__}: use Grammar.from_ebnf")
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
    return Explainer(grammar.rules, grammar.root).explain(text)
