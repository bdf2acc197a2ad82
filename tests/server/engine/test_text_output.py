"""Text comes out early, whole, and without stop strings."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from server.engine.text_output import TextOutput

BYTES = [bytes([i]) for i in range(256)] + [b"", b"<think>", b"\xf0\x9f", b"\x98\x80"]
CONTROL, THINK, HALF, OTHER_HALF = 256, 257, 258, 259


def push_all(output: TextOutput, tokens: list[int]) -> list[str]:
    pieces = []
    for token in tokens:
        pieces.append(output.push(token))
        if output.stopped_by is not None:
            break
    return [*pieces, output.flush()]


def test_characters_split_over_tokens_come_out_whole() -> None:
    output = TextOutput(BYTES)
    assert push_all(output, [*"é😀".encode(), ord("!")]) == ["", "é", "", "", "", "😀", "!", ""]
    assert push_all(TextOutput(BYTES), [HALF, OTHER_HALF]) == ["", "😀", ""]


def test_an_incomplete_character_at_the_end_is_dropped() -> None:
    assert push_all(TextOutput(BYTES), [ord("a"), HALF]) == ["a", "", ""]


def test_invalid_bytes_become_replacement_characters() -> None:
    assert "".join(push_all(TextOutput(BYTES), [0xFF, ord("a"), 0xC3, ord("b")])) == "\ufffda\ufffdb"


def test_control_tokens_do_not_show_and_added_text_tokens_do() -> None:
    assert push_all(TextOutput(BYTES), [CONTROL, THINK, CONTROL]) == ["", "<think>", "", ""]


def test_a_stop_string_split_over_tokens_ends_the_text_before_it() -> None:
    output = TextOutput(BYTES, stop=("STOP",))
    assert push_all(output, list(b"a STOP b")) == ["a", " ", "", "", "", "", ""]
    assert output.stopped_by == "STOP"


def test_only_what_may_begin_a_stop_string_is_held_back() -> None:
    output = TextOutput(BYTES, stop=("\n\n", "abc"))
    assert push_all(output, list(b"xab\nabd")) == ["x", "", "", "ab", "\n", "", "abd", ""]


def test_the_stop_string_that_is_complete_first_wins() -> None:
    output = TextOutput([b"xxabcd"], stop=("bcd", "abc"))
    assert push_all(output, [0]) == ["xx", ""]
    assert output.stopped_by == "abc"


def test_held_back_text_is_given_out_at_the_end() -> None:
    assert push_all(TextOutput(BYTES, stop=("abc",)), list(b"ab")) == ["", "", "ab"]


stops = st.lists(st.text("ab\n😀", min_size=1, max_size=4), max_size=3).map(tuple)


@settings(deadline=None)
@given(st.text("ab\n😀", max_size=40), stops, st.data())
def test_pieces_equal_the_whole_text_up_to_the_stop(
    text: str, stop: tuple[str, ...], data: st.DataObject
) -> None:
    """Against the obvious way: cut the finished text where the first stop string is complete."""
    encoded, tokens, vocabulary = text.encode(), list[int](), list[bytes]()
    while encoded:
        length = data.draw(st.integers(1, 5))
        tokens.append(len(vocabulary))
        vocabulary.append(encoded[:length])
        encoded = encoded[length:]
    ends = [(text.find(s) + len(s), text.find(s), s) for s in stop if s in text]
    expected = text[: min(ends)[1]] if ends else text
    output = TextOutput(vocabulary, stop)
    pieces = push_all(output, tokens)
    if not ends or len(set(stop)) == 1:
        assert "".join(pieces) == expected
    # a token may complete several stop strings at once, but never lets one through
    assert not any(s in "".join(pieces) for s in stop)
    assert (output.stopped_by is not None) == bool(ends)


@settings(deadline=None)
@given(st.lists(st.integers(0, 255), max_size=30))
def test_no_piece_ends_within_a_character(tokens: list[int]) -> None:
    pieces = push_all(TextOutput(BYTES), tokens)
    whole = bytes(tokens).decode("utf-8", errors="replace")
    assert whole.startswith("".join(pieces))
    assert len(whole) - len("".join(pieces)) <= 3


def test_the_stop_string_can_be_given_out() -> None:
    output = TextOutput(BYTES, ("cd",), includes_stop=True)
    assert "".join(push_all(output, list(b"abcde"))) == "abcd"
    assert output.stopped_by == "cd"


def test_what_may_not_stop_is_given_out_at_once() -> None:
    output = TextOutput(BYTES, ("cd",))
    assert [output.push(token, may_stop=False) for token in b"cdc"] == ["c", "d", "c"]
    assert [output.push(token) for token in b"dcd"] == ["d", "", ""]
    assert output.stopped_by == "cd"
