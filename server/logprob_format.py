"""From the engine's logprobs to what responses have."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence

from models.logprobs import TokenLogprobs
from server.schemas.logprobs import (
    ChatLogprobs,
    CompletionLogprobs,
    PromptLogprobs,
    RankedLogprob,
    TokenLogprob,
    TopLogprob,
)

# JSON has no infinity; a token that cannot come has this.
LEAST_LOGPROB = -9999.0


class LogprobWriter:
    """Names tokens by their text, or as ``token_id:N``.

    token_bytes: the bytes of every token, control tokens included; shown_bytes: what they add to the text.
    """

    def __init__(
        self, token_bytes: Sequence[bytes], shown_bytes: Sequence[bytes], *, as_ids: bool = False
    ) -> None:
        self._token_bytes = token_bytes
        self._shown_bytes = shown_bytes
        self._as_ids = as_ids

    def chat(self, entries: Iterable[TokenLogprobs]) -> ChatLogprobs:
        return ChatLogprobs(content=[self._chat_entry(entry) for entry in entries])

    def completion(
        self, entries: Iterable[TokenLogprobs | int], offset: int = 0, *, has_top: bool = True
    ) -> CompletionLogprobs:
        """`offset`: characters of the text before; a token whose logprob is not known is given by its id."""
        written = CompletionLogprobs(text_offset=[], token_logprobs=[], tokens=[], top_logprobs=[])
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        for entry in entries:
            token_id = entry if isinstance(entry, int) else entry.token_id
            written.tokens.append(self._name(token_id))
            written.text_offset.append(offset)
            offset += len(decoder.decode(self._shown_bytes[token_id]))
            if isinstance(entry, int):
                written.token_logprobs.append(None)
                written.top_logprobs.append(None)
            else:
                written.token_logprobs.append(_finite(entry.logprob))
                written.top_logprobs.append(self._top_by_name(entry) if has_top else None)
        return written

    def prompt(self, entries: Sequence[TokenLogprobs]) -> PromptLogprobs:
        return [None, *map(self._prompt_entry, entries)]

    def _chat_entry(self, entry: TokenLogprobs) -> TokenLogprob:
        own = self._top_entry(entry.token_id, entry.logprob)
        return TokenLogprob(
            token=own.token,
            logprob=own.logprob,
            bytes=own.bytes,
            top_logprobs=[self._top_entry(token_id, logprob) for token_id, logprob in entry.top],
        )

    def _top_entry(self, token_id: int, logprob: float) -> TopLogprob:
        value = self._token_bytes[token_id]
        text = self._id_name(token_id) if self._as_ids else value.decode(errors="replace")
        return TopLogprob(token=text, logprob=_finite(logprob), bytes=list(value))

    def _top_by_name(self, entry: TokenLogprobs) -> dict[str, float]:
        """The likeliest, and the token that came even if it is not one of them."""
        pairs = [*entry.top, (entry.token_id, entry.logprob)]
        return {self._name(token_id): _finite(logprob) for token_id, logprob in pairs}

    def _prompt_entry(self, entry: TokenLogprobs) -> dict[int, RankedLogprob]:
        ranked = [(token_id, logprob, rank) for rank, (token_id, logprob) in enumerate(entry.top, 1)]
        ranked.append((entry.token_id, entry.logprob, entry.rank))
        return {
            token_id: RankedLogprob(
                logprob=_finite(logprob), rank=rank, decoded_token=self._prompt_name(token_id)
            )
            for token_id, logprob, rank in ranked
        }

    def _prompt_name(self, token_id: int) -> str:
        if self._as_ids:
            return self._id_name(token_id)
        return self._token_bytes[token_id].decode(errors="replace")

    def _name(self, token_id: int) -> str:
        """Names are keys here, so that tokens that are no whole text must differ."""
        value = self._token_bytes[token_id]
        if self._as_ids or not value:
            return self._id_name(token_id)
        try:
            return value.decode()
        except UnicodeDecodeError:
            return "bytes:" + "".join(f"\\x{byte:02x}" for byte in value)

    def _id_name(self, token_id: int) -> str:
        return f"token_id:{token_id}"


def _finite(logprob: float) -> float:
    return max(logprob, LEAST_LOGPROB)
