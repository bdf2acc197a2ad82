"""Special tokens: `<[…]>` with ids, ranges, a negation or the wildcard, and `<name>`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from grammar_core.frontends.lark.errors import LarkError, UndefinedNameError, limit_error
from grammar_core.frontends.lark.limits import MAX_TOKEN_ID, MAX_TOKEN_RANGE
from grammar_core.ir.nodes import TokenSet

if TYPE_CHECKING:
    from grammar_core.tokenizer_info import TokenizerInfo

_ITEM = re.compile(r"[ \t]*([0-9]+)[ \t]*(?:-[ \t]*([0-9]+)[ \t]*)?(,|$)")
_LONGEST_ID = len(str(MAX_TOKEN_ID))


class SpecialTokens:
    """Reads references to tokens of one vocabulary, which only names and the wildcard need."""

    def __init__(self, tokenizer_info: TokenizerInfo | None) -> None:
        self._info = tokenizer_info

    def read_ids(self, token: str, text: str, offset: int) -> TokenSet:
        """The set that `<[…]>` at `offset` of `text` stands for. Raises LarkError, GrammarLimitError."""
        inside = token[2:-2].strip()
        negated = inside.startswith("^")
        listed = inside[1:].strip() if negated else inside
        if listed == "*":
            return self._wildcard(negated, text, offset)
        if not listed:
            raise LarkError.at("A set of tokens needs at least one id", text, offset)
        return TokenSet(tuple(sorted(_read_ids(listed, text, offset))), negated)

    def read_name(self, token: str, text: str, offset: int) -> TokenSet:
        """The tokens whose text is `token`, angle brackets included. Raises LarkError if there are none."""
        if self._info is None:
            message = f"The special token {token} needs tokenizer_info, which tells what tokens there are"
            raise LarkError.at(message, text, offset)
        ids = self._info.token_ids_of(token)
        if not ids:
            raise UndefinedNameError.at(f"The vocabulary has no token {token}", text, offset)
        return TokenSet(tuple(sorted(ids)), False)

    def _wildcard(self, negated: bool, text: str, offset: int) -> TokenSet:
        if negated:
            raise LarkError.at("<[^*]> is no token at all", text, offset)
        if self._info is None:
            raise LarkError.at("The wildcard <[*]> needs tokenizer_info", text, offset)
        return TokenSet((), True)


def _read_ids(listed: str, text: str, offset: int) -> set[int]:
    ids: set[int] = set()
    position = 0
    while True:
        item = _ITEM.match(listed, position)
        if item is None:
            _refuse_item(listed[position:].split(",")[0].strip(), text, offset)
        low = _token_id(item[1], text, offset)
        high = low if item[2] is None else _token_id(item[2], text, offset)
        if high < low:
            raise LarkError.at(f"The range of tokens {low}-{high} is empty", text, offset)
        if high - low > MAX_TOKEN_RANGE:
            message = f"A range of tokens may span at most {MAX_TOKEN_RANGE:,} ids"
            raise limit_error(message, text, offset, "token_range", MAX_TOKEN_RANGE)
        ids.update(range(low, high + 1))
        if len(ids) > 16 * MAX_TOKEN_RANGE:
            message = f"A set of tokens may have at most {16 * MAX_TOKEN_RANGE:,} ids"
            raise limit_error(message, text, offset, "token_set", 16 * MAX_TOKEN_RANGE)
        position = item.end()
        if not item[3]:
            return ids


def _token_id(digits: str, text: str, offset: int) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > _LONGEST_ID or int(significant) > MAX_TOKEN_ID:
        raise limit_error(
            f"A token id may be at most {MAX_TOKEN_ID:,}", text, offset, "token_id", MAX_TOKEN_ID
        )
    return int(significant)


def _refuse_item(item: str, text: str, offset: int) -> NoReturn:
    shown = item or "nothing"
    raise LarkError.at(f"Expected a token id or a range such as 3-8, not {shown}", text, offset)
