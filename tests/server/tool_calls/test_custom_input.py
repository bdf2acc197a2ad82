"""The text of a custom tool out of its JSON arguments."""

from __future__ import annotations

import json

import pytest

from server.tool_calls.custom_input import CustomInput


@pytest.mark.parametrize("text", ["", "abc", 'a"b\\c\n\té😀x\u2028/', "😀" * 3])
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("piece", [1, 2, 3, 5, 100])
def test_pieces_give_the_text(text: str, ascii_only: bool, piece: int) -> None:
    arguments = json.dumps({"input": text}, ensure_ascii=ascii_only)
    custom = CustomInput()
    pieces = [custom.feed(arguments[at : at + piece]) for at in range(0, len(arguments), piece)]
    assert "".join(pieces) == text


def test_white_space_around_the_text_does_not_count() -> None:
    assert CustomInput().feed(' {\n "input" : " a " }\n') == " a "
