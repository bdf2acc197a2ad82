"""DeepSeek: fenced JSON (R1, V3), JSON (V3.1), and a markup of its own (V3.2, V4)."""

from __future__ import annotations

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    THINK,
    CallField,
    Section,
    ToolCallFormat,
)

_CALLS = "<｜tool▁calls▁begin｜>"
_CALLS_END = "<｜tool▁calls▁end｜>"
_CALL = "<｜tool▁call▁begin｜>"
_CALL_END = "<｜tool▁call▁end｜>"
_SEPARATOR = "<｜tool▁sep｜>"

DEEPSEEK_R1 = ToolCallFormat(
    name="deepseek_r1",
    trigger=_CALLS,
    call=(
        f"{_CALL}function{_SEPARATOR}",
        CallField.NAME,
        "\n```json\n",
        CallField.ARGUMENTS,
        f"\n```{_CALL_END}",
    ),
    section=Section(_CALLS, _CALLS_END, "\n"),
    reasoning=THINK,
    templates=((_CALLS, "```json"),),
    names=("deepseekr1", "deepseekv3", "deepseekv30324"),
)

DEEPSEEK_V3_1 = ToolCallFormat(
    name="deepseek_v3_1",
    trigger=_CALLS,
    call=(_CALL, CallField.NAME, _SEPARATOR, CallField.ARGUMENTS, _CALL_END),
    section=Section(_CALLS, _CALLS_END),
    reasoning=THINK,
    templates=((_CALLS,),),
    tokens=(_CALLS,),
    names=("deepseekv31",),
)


def _markup(name: str, calls: str, space: str, style: str, names: tuple[str, ...]) -> ToolCallFormat:
    """The format of one version; `space` stands behind the second bar of its tags."""
    open_tag, close_tag = f"<｜DSML｜{space}", f"</｜DSML｜{space}"
    return ToolCallFormat(
        name=name,
        trigger=f"{open_tag}{calls}>",
        call=(
            f'{open_tag}invoke name="',
            CallField.NAME,
            '">\n',
            CallField.ARGUMENTS,
            f"{close_tag}invoke>\n",
        ),
        argument_style=style,
        section=Section(f"{open_tag}{calls}>\n", f"{close_tag}{calls}>"),
        lead="\n\n",
        reasoning=THINK,
        templates=((f"DSML｜{space}{calls}",), (f"｜{space}{calls}", "DSML")),
        names=names,
    )


DEEPSEEK_V3_2 = _markup("deepseek_v3_2", "function_calls", "", "deepseek_xml", ("deepseekv32",))
DEEPSEEK_V4 = _markup("deepseek_v4", "tool_calls", "", "deepseek_xml", ("deepseekv4",))
DEEPSEEK_V4_1 = _markup("deepseek_v4_1", "calls", " ", "deepseek_v4_1_xml", ("deepseekv41",))
