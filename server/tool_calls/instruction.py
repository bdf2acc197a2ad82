"""Tools for models whose chat template has no place for them: as text of ordinary messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from server.tool_calls.tools import OfferedTool

_INSTRUCTION = """\
You can call these tools. Each line is the JSON description of one:
<tools>
{tools}
</tools>
To call a tool, write its name and a JSON object with its arguments between these tags, once for each call:
<tool_call>
{{"name": "NAME", "arguments": {{...}}}}
</tool_call>
The results come back between <tool_response> tags."""


def without_tool_messages(
    conversation: Sequence[dict[str, Any]], tools: Sequence[OfferedTool]
) -> list[dict[str, Any]]:
    """The conversation with the tools in the system message, calls as text, and results as user messages."""
    plain: list[dict[str, Any]] = []
    previous = None
    for message in conversation:
        role = message["role"]
        if role == "tool":
            result = f"<tool_response>\n{message['content']}\n</tool_response>"
            # Results of calls made together are one message: many templates want the roles to take turns.
            if previous == "tool":
                plain[-1]["content"] += f"\n{result}"
            else:
                plain.append({"role": "user", "content": result})
        elif message.get("tool_calls"):
            plain.append({"role": "assistant", "content": _with_calls(message)})
        else:
            plain.append(message)
        previous = role
    return _with_instruction(plain, tools) if tools else plain


def _with_calls(message: dict[str, Any]) -> str:
    texts = [message["content"]] if message.get("content") else []
    for call in message["tool_calls"]:
        function = call["function"]
        value = {"name": function["name"], "arguments": function["arguments"]}
        texts.append(f"<tool_call>\n{json.dumps(value, ensure_ascii=False)}\n</tool_call>")
    return "\n".join(texts)


def _with_instruction(messages: list[dict[str, Any]], tools: Sequence[OfferedTool]) -> list[dict[str, Any]]:
    lines = [json.dumps(tool.as_function()["function"], ensure_ascii=False) for tool in tools]
    instruction = _INSTRUCTION.format(tools="\n".join(lines))
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{messages[0]['content']}\n\n{instruction}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": instruction}, *messages]
