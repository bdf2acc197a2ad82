"""Masks where whole subtrees of the vocabulary are judged at once."""

from __future__ import annotations

from itertools import product

from grammar_core import GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask

_SIGNS = ["".join(signs).encode() for length in range(1, 9) for signs in product("+-", repeat=length)]


def _allowed(matcher: GrammarMatcher, vocabulary: list[bytes]) -> set[bytes]:
    mask = allocate_token_bitmask(1, len(vocabulary))
    matcher.fill_next_token_bitmask(mask)
    return {text for i, text in enumerate(vocabulary) if mask[0, i // 32] >> (i % 32) & 1}


def test_what_two_ways_into_a_state_can_read_is_not_added_up() -> None:
    """From an SQL grammar whose strings went on behind their end: a state that reads pluses when it is
    reached one way, and minuses when it is reached another, does not read both mixed."""
    vocabulary = [
        *(b"x+" + signs for signs in _SIGNS),
        *(b"y-" + signs for signs in _SIGNS),
        *(b"z" + signs for signs in _SIGNS),
    ]
    info = TokenizerInfo([*vocabulary, b""], stop_token_ids=[len(vocabulary)])
    grammar = 'root ::= ("x+" | "y-" | "z") ("+"+ | "-"+)'
    matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar(grammar))
    expected = {
        text
        for text in vocabulary
        if len(set(text.removeprefix(b"x+").removeprefix(b"y-").removeprefix(b"z"))) == 1
    }
    assert _allowed(matcher, [*vocabulary, b""]) == expected


def test_a_state_whose_mask_follows_from_one_that_follows_from_it() -> None:
    """Text that is followed by more of the same text overflowed the stack. Found by random grammars."""
    grammar = """root ::= text
text ::= [a-z] | text dispatch
dispatch[capture_hidden_stop_bytes=3] ::= TagDispatch(("aab", end), loop_after_dispatch=false)
end ::= ""
"""
    vocabulary = [bytes([letter]) for letter in range(97, 123)] + [b"ab", b"abc", b"0", b"a0", b""]
    info = TokenizerInfo(vocabulary, stop_token_ids=[len(vocabulary) - 1])
    matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar(grammar))
    assert _allowed(matcher, vocabulary) == {*vocabulary} - {b"0", b""}
    assert matcher.accept_token(0)
    assert _allowed(matcher, vocabulary) == {*vocabulary}
