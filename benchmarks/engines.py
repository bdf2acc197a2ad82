"""The engines under test behind one small interface: compile a grammar, start a session, fill and accept.

Sessions hand out the engine's own calls, bound with `functools.partial`, so that timing them adds no Python
frame. Every engine is imported when it is built, and gets the same vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.grammars import BenchGrammar
from benchmarks.vocabulary import BenchVocabulary

Row = NDArray[np.int32]


class NotApplicableError(Exception):
    """The engine cannot take this grammar; the message says why."""


class Session(NamedTuple):
    """One generation: ``fill()`` writes the allowed tokens into ``row``, ``accept(id)`` goes on."""

    fill: Callable[[], object]
    accept: Callable[[int], object]
    row: Row  # keep the session while calling fill: some engines know only the address of the row


class Compiled(NamedTuple):
    """A compiled grammar; ``memory()`` in bytes, now, where the engine tells."""

    start: Callable[[], Session]
    memory: Callable[[], int] | None = None


class Engine(Protocol):
    """An engine with its vocabulary, ready to compile. Nothing compiled is kept between calls."""

    name: str

    def compile(self, grammar: BenchGrammar) -> Compiled:
        """Compile without using a cache. Raises `NotApplicableError`."""
        ...


class OurEngine:
    """This project, from Python."""

    name = "syntagma"

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        self._api = import_module("grammar_core")
        self._info = vocabulary.info
        self._compiler = self._api.GrammarCompiler(self._info, cache_enabled=False)

    def compile(self, grammar: BenchGrammar) -> Compiled:
        compiled = self._compiler.compile_grammar(grammar.ebnf)
        return Compiled(partial(self._start, compiled), lambda: int(compiled.memory_size_bytes))

    def _start(self, compiled: Any) -> Session:
        matcher = self._api.GrammarMatcher(compiled)
        row = empty_row(self._info.vocab_size)
        return Session(partial(matcher.fill_next_token_bitmask, row, 0), matcher.accept_token, row[0])


class XGrammarEngine:
    """xgrammar, given the EBNF, the Lark translation, or (for JSON) its own built-in grammar."""

    def __init__(self, vocabulary: BenchVocabulary, dialect: str) -> None:
        self._api = import_module("xgrammar")
        self.name = f"xgrammar {dialect}"
        self._dialect = dialect
        self._info = self._api.TokenizerInfo.from_huggingface(vocabulary.tokenizer)

    def compile(self, grammar: BenchGrammar) -> Compiled:
        compiler = self._api.GrammarCompiler(self._info, max_threads=1, cache_enabled=False)
        compiled = self._compile(compiler, grammar)
        return Compiled(partial(self._start, compiled), lambda: int(compiled.memory_size_bytes))

    def _compile(self, compiler: Any, grammar: BenchGrammar) -> Any:
        if self._dialect == "EBNF":
            return compiler.compile_grammar(grammar.ebnf)
        if self._dialect == "Lark":
            return compiler.compile_lark(grammar.lark)
        if grammar.name != "json":
            raise NotApplicableError("built in for JSON only")
        return compiler.compile_builtin_json_grammar()

    def _start(self, compiled: Any) -> Session:
        matcher = self._api.GrammarMatcher(compiled)
        bitmask = self._api.allocate_token_bitmask(1, self._info.vocab_size)
        fill = partial(matcher.fill_next_token_bitmask, bitmask, 0)
        return Session(fill, matcher.accept_token, bitmask.numpy()[0])


class LlguidanceVocabulary:
    """What llguidance asks of a tokenizer. Its own reading of this one refuses the text ``<think>``."""

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        self.eos_token_id = vocabulary.info.stop_token_ids[-1]
        self.bos_token_id = None
        self.tokens = vocabulary.info.decoded_vocab
        self.special_token_ids = vocabulary.info.special_token_ids
        self._tokenizer = vocabulary.tokenizer

    def __call__(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(str(text), add_special_tokens=False))


class LlguidanceEngine:
    """llguidance, given the Lark translation; its masks are written straight into our row.

    ``no_forcing`` makes its masks complete: otherwise a forced text may be spelt in one way only.
    """

    name = "llguidance"

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        self._api = import_module("llguidance")
        self._size = vocabulary.info.vocab_size
        wrapper = self._api.TokenizerWrapper(LlguidanceVocabulary(vocabulary))
        self._tokenizer = self._api.LLTokenizer(wrapper, n_vocab=self._size)

    def compile(self, grammar: BenchGrammar) -> Compiled:
        lark = '%llguidance {"no_forcing": true}\n' + grammar.lark
        first = self._api.LLMatcher(self._tokenizer, self._api.LLMatcher.grammar_from_lark(lark), log_level=0)
        if first.is_error():
            raise NotApplicableError(first.get_error())
        return Compiled(partial(self._start, first))

    def _start(self, first: Any) -> Session:
        matcher = first.deep_copy()
        row = empty_row(self._size)[0]
        fill = partial(matcher.unsafe_compute_mask_ptr, row.ctypes.data, row.nbytes)
        return Session(fill, matcher.consume_token, row)


class GlrmaskEngine:
    """glrmask, given the Lark translation, with fast masks or with fast compilation."""

    def __init__(self, vocabulary: BenchVocabulary, strategy: str) -> None:
        self._api = import_module("glrmask")
        self.name = f"glrmask {strategy}"
        self._strategy = getattr(self._api.MaskStrategy, strategy)
        tokens = enumerate(vocabulary.info.text_vocab)
        self._vocab = self._api.Vocab.from_id_to_bytes(
            {token_id: token for token_id, token in tokens if token}
        )
        self._size = vocabulary.info.vocab_size

    def compile(self, grammar: BenchGrammar) -> Compiled:
        parsed = self._api.Grammar.from_lark(grammar.lark)
        constraint = parsed.compile(self._vocab, mask_strategy=self._strategy)
        return Compiled(partial(self._start, constraint))

    def _start(self, constraint: Any) -> Session:
        state = constraint.start()
        row = empty_row(self._size)[0]
        return Session(partial(state.fill_mask, row), state.commit_token, row)


class OutlinesEngine:
    """outlines-core, for the one regular grammar that its token index can hold."""

    name = "outlines-core"

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        self._api = import_module("outlines_core")
        ids: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(vocabulary.info.text_vocab):
            if token:
                ids.setdefault(token, []).append(token_id)
        self._vocab = self._api.Vocabulary(vocabulary.info.stop_token_ids[-1], ids)
        self._size = vocabulary.info.vocab_size

    def compile(self, grammar: BenchGrammar) -> Compiled:
        if grammar.regex is None:
            raise NotApplicableError("regular expressions only")
        if grammar.name == "letters":
            raise NotApplicableError(
                "not run: 2,000 states of 17,000 transitions each, which take it more than a minute"
            )
        index = self._api.Index(grammar.regex, self._vocab)
        return Compiled(partial(self._start, index))

    def _start(self, index: Any) -> Session:
        guide = self._api.Guide(index, max_rollback=1)
        row = empty_row(self._size)[0]
        fill = partial(guide.write_mask_into, row.ctypes.data, row.size, row.itemsize)

        def accept(token_id: int) -> bool:
            try:
                guide.advance(token_id, return_tokens=False)
            except ValueError:
                return False
            return True

        return Session(fill, accept, row)


def empty_row(vocab_size: int) -> Row:
    """A bitmask of one row, [1, ceil(vocab_size / 32)], nothing allowed."""
    return np.zeros((1, (vocab_size + 31) // 32), dtype=np.int32)


BUILDERS: dict[str, Callable[[BenchVocabulary], Engine]] = {
    "syntagma": OurEngine,
    "xgrammar-ebnf": partial(XGrammarEngine, dialect="EBNF"),
    "xgrammar-lark": partial(XGrammarEngine, dialect="Lark"),
    "xgrammar-builtin": partial(XGrammarEngine, dialect="built-in"),
    "llguidance": LlguidanceEngine,
    "glrmask-masks": partial(GlrmaskEngine, strategy="FAST_MASKS"),
    "glrmask-compile": partial(GlrmaskEngine, strategy="FAST_COMPILE"),
    "outlines-core": OutlinesEngine,
}


def build_engines(names: list[str], vocabulary: BenchVocabulary) -> Iterator[tuple[str, Engine | str]]:
    """The engines by name, each built when it is reached; a text says why one cannot be had."""
    for name in names:
        try:
            yield name, BUILDERS[name](vocabulary)
        except (ImportError, AttributeError) as error:
            yield name, f"not available: {error}"
