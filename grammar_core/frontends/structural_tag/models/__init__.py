"""The families of models whose tool calls are known. A new one is a file here and a line in `FORMATS`."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from grammar_core.frontends.structural_tag.errors import StructuralTagError
from grammar_core.frontends.structural_tag.models.answer_plan import AnswerPlan, Thoughts, read_tool_choice
from grammar_core.frontends.structural_tag.models.cohere import COHERE
from grammar_core.frontends.structural_tag.models.deepseek import (
    DEEPSEEK_R1,
    DEEPSEEK_V3_1,
    DEEPSEEK_V3_2,
    DEEPSEEK_V4,
    DEEPSEEK_V4_1,
)
from grammar_core.frontends.structural_tag.models.exaone import EXAONE
from grammar_core.frontends.structural_tag.models.gemma import GEMMA_4
from grammar_core.frontends.structural_tag.models.glm import GLM_4_7
from grammar_core.frontends.structural_tag.models.harmony import HARMONY
from grammar_core.frontends.structural_tag.models.internlm import INTERNLM
from grammar_core.frontends.structural_tag.models.json_lists import COMMAND_R, GRANITE, JAMBA, PHI_4_MINI
from grammar_core.frontends.structural_tag.models.kimi import KIMI, KIMI_K3
from grammar_core.frontends.structural_tag.models.llama import LLAMA
from grammar_core.frontends.structural_tag.models.minimax import MINIMAX, MINIMAX_M3
from grammar_core.frontends.structural_tag.models.mistral import MISTRAL, MISTRAL_V11, MISTRAL_V13
from grammar_core.frontends.structural_tag.models.qwen import QWEN_3
from grammar_core.frontends.structural_tag.models.qwen_xml import MIMO, QWEN_3_CODER, SEED_OSS
from grammar_core.frontends.structural_tag.models.tag_building import answer_tag
from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat

FORMATS: tuple[ToolCallFormat, ...] = (
    HARMONY,
    KIMI_K3,
    KIMI,
    DEEPSEEK_V4_1,
    DEEPSEEK_V4,
    DEEPSEEK_V3_2,
    DEEPSEEK_R1,
    DEEPSEEK_V3_1,
    MINIMAX_M3,
    MINIMAX,
    GEMMA_4,
    COHERE,
    COMMAND_R,
    MISTRAL_V11,
    MISTRAL_V13,
    MISTRAL,
    INTERNLM,
    SEED_OSS,
    MIMO,
    QWEN_3_CODER,
    GLM_4_7,
    EXAONE,
    GRANITE,
    JAMBA,
    PHI_4_MINI,
    LLAMA,
    QWEN_3,
)
"""More particular ones first: the first that fits a model is taken."""

DEFAULT_FORMAT = QWEN_3
"""What models without a format of their own are asked to write."""

_OTHER_NAMES = {
    "qwen_3_5": "qwen_3_coder",
    "hermes": "qwen_3",
    "qwen_2_5": "qwen_3",
    "deepseek_v3": "deepseek_r1",
}
_ENABLED: dict[Any, Thoughts] = {
    True: "enabled",
    False: "disabled",
    "enabled": "enabled",
    "disabled": "disabled",
    "auto": "auto",
}


def find_tool_call_format(
    chat_template: str | None, model_name: str, vocabulary: Container[str]
) -> ToolCallFormat:
    """The format of a model by what its chat template writes, else by its tokens, its name, the default.

    `vocabulary`: the texts of its tokens, special ones included.
    """
    name = "".join(filter(str.isalnum, model_name.rpartition("/")[2].lower()))
    for format in FORMATS:
        if chat_template and any(all(text in chat_template for text in group) for group in format.templates):
            return format
    for format in FORMATS:
        if format.tokens and all(token in vocabulary for token in format.tokens):
            return format
    beginnings = [(begin, format) for format in FORMATS for begin in format.names if name.startswith(begin)]
    return max(beginnings, key=lambda found: len(found[0]))[1] if beginnings else DEFAULT_FORMAT


def get_model_structural_tag(
    model: str | ToolCallFormat,
    tools: Iterable[Any] | None = None,
    tool_choice: Any = "auto",
    reasoning: Any = "enabled",
    *,
    any_order: bool = False,
    max_whitespace_cnt: int | None = None,
    parallel_tool_calls: bool = True,
    strict_mode: bool = True,
) -> dict[str, Any]:
    """The structural tag of an answer that may call tools, in the format of a family of models.

    `model`: the name of a format of `FORMATS`, or a format. `tools`, `tool_choice`: as in the OpenAI API.
    `reasoning`: "enabled" (or true) where the answer begins inside of thoughts that the prompt has opened,
    "auto" where it may open them itself, "disabled" (or false) without. `parallel_tool_calls`: whether
    there may be more than one call. The rest are fields of the format type `json_schema` for the arguments.
    Raises StructuralTagError for an unknown model, tool or choice.
    """
    functions, calls = read_tool_choice(tools or (), tool_choice)
    if not isinstance(reasoning, (str, bool)) or reasoning not in _ENABLED:
        raise StructuralTagError("reasoning is 'enabled', 'disabled' or 'auto'", pointer="/reasoning")
    options: dict[str, Any] = {"any_order": any_order, "strict_mode": strict_mode}
    if max_whitespace_cnt is not None:
        options["max_whitespace_cnt"] = max_whitespace_cnt
    plan = AnswerPlan(functions, calls, parallel_tool_calls, _ENABLED[reasoning], options)
    return answer_tag(format_named(model) if isinstance(model, str) else model, plan)


def format_named(name: str) -> ToolCallFormat:
    """The format of this name. Raises StructuralTagError, with the names that there are."""
    name = _OTHER_NAMES.get(name, name)
    for format in FORMATS:
        if format.name == name:
            return format
    known = ", ".join(format.name for format in FORMATS)
    raise StructuralTagError(f"There is no model format {name!r}; the formats are {known}", pointer="/model")
