"""Ways to spell a text in tokens: the tokenizer's own, and drawn ones, as a sampled model also produces."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from benchmarks.grammars import BenchGrammar
from benchmarks.vocabulary import BenchVocabulary

_SEED = 7
_LONGEST_TOKEN = 24  # bytes; longer tokens are runs of one character


class TokenIndex:
    """Finds the tokens that a text can begin with."""

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self._ids: dict[bytes, list[int]] = defaultdict(list)
        for token_id, token in enumerate(tokens):
            if token:
                self._ids[token].append(token_id)

    def draw(self, text: bytes, rng: random.Random) -> list[int]:
        """A drawn tokenisation of ``text``, in which longer tokens are likelier."""
        drawn = []
        position = 0
        while position < len(text):
            ends = range(position + 1, min(position + _LONGEST_TOKEN, len(text)) + 1)
            choices = [end for end in ends if text[position:end] in self._ids]
            end = rng.choices(choices, weights=[end - position for end in choices])[0]
            drawn.append(rng.choice(self._ids[text[position:end]]))
            position = end
        return drawn


def tokenise(grammar: BenchGrammar, vocabulary: BenchVocabulary, index: TokenIndex) -> list[list[int]]:
    """Each text of the grammar twice: as the tokenizer spells it, and drawn."""
    rng = random.Random(_SEED)
    sequences = []
    for text in grammar.texts:
        canonical = vocabulary.tokenizer.encode(text, add_special_tokens=False)
        tokens = vocabulary.info.decoded_vocab
        if b"".join(tokens[token_id] for token_id in canonical) != text.encode():
            raise ValueError(f"the tokenizer changes the text {text[:40]!r}")
        sequences += [list(canonical), index.draw(text.encode(), rng)]
    return sequences
