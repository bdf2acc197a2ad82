"""What cannot be enforced is refused by the names of the rule and the feature."""

from __future__ import annotations

import pytest

from grammar_core.errors import UnsupportedFeatureError
from grammar_core.grammar import Grammar
from grammar_core.passes import refuse_unsupported as table
from grammar_core.passes.refuse_unsupported import refuse_unsupported


def test_lookahead() -> None:
    rules = Grammar.from_ebnf('root ::= x "b"\nx ::= "a" (= "b")').rules
    if table.SUPPORTS_LOOKAHEAD:
        refuse_unsupported(rules)
        return
    with pytest.raises(UnsupportedFeatureError, match='Rule "x" has a lookahead'):
        refuse_unsupported(rules)
