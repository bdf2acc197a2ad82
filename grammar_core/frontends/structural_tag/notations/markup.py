"""How the notations that write one parameter of a call after the other mark its key, type and end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from grammar_core.frontends.json_schema.values import ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING


@dataclass(frozen=True, slots=True)
class ParameterMarkup:
    """A parameter is `begin`, its key, `after_key`, its value, `end`.

    Where there are `types`, the name of the value's type and `after_type` stand between `after_key` and the
    value. Values of type string are raw text, others JSON. `is_padded`: a line break on either side of a
    value does not belong to it.
    """

    begin: str
    after_key: str
    end: str
    types: Mapping[str, str] | None = None
    after_type: str = ""
    is_padded: bool = False


def _markup(space: str) -> ParameterMarkup:
    types = {STRING: "true"} | dict.fromkeys((NULL, BOOLEAN, NUMBER, ARRAY, OBJECT), "false")
    begin, end = f'<｜DSML｜{space}parameter name="', f"</｜DSML｜{space}parameter>"
    return ParameterMarkup(begin, '" string="', end, MappingProxyType(types), '">')


QWEN_XML = ParameterMarkup("<parameter=", ">", "</parameter>", is_padded=True)
MINIMAX_XML = ParameterMarkup('<parameter name="', '">', "</parameter>")
GLM_XML = ParameterMarkup("<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>")
DEEPSEEK_XML = _markup("")
DEEPSEEK_V4_1_XML = _markup(" ")
KIMI_K3_XML = ParameterMarkup(
    '<|open|>argument key="',
    '" type="',
    "<|close|>argument<|sep|>",
    MappingProxyType({kind: kind for kind in (STRING, NUMBER, BOOLEAN, NULL, ARRAY, OBJECT)}),
    '"<|sep|>',
)

PARAMETER_MARKUPS: Mapping[str, ParameterMarkup] = MappingProxyType(
    {
        "qwen_xml": QWEN_XML,
        "minimax_xml": MINIMAX_XML,
        "deepseek_xml": DEEPSEEK_XML,
        "deepseek_v4_1_xml": DEEPSEEK_V4_1_XML,
        "glm_xml": GLM_XML,
        "kimi_k3_xml": KIMI_K3_XML,
    }
)
"""By the style of the structural tag type `json_schema`."""
