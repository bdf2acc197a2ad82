"""Grammars to compiled grammars."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import itemgetter
from typing import Any, Literal, Protocol

from grammar_core import _native
from grammar_core.bitmask import get_bitmask_shape
from grammar_core.cache import SingleFlightCache
from grammar_core.collector import paused_collector
from grammar_core.compiled_grammar import CompiledGrammar
from grammar_core.deadline import Cancellation, check_now, deadline
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.frontends.json_schema.documents import schema_text
from grammar_core.frontends.structural_tag import read_document
from grammar_core.grammar import Grammar, grammar_of_tag
from grammar_core.lowering import lower_grammar
from grammar_core.passes.expand_macros import NATIVE_EXPANSIONS
from grammar_core.passes.resolve_markers import resolve_markers
from grammar_core.tokenizer_info import TokenizerInfo

DEFAULT_MASK_BYTES_LIMIT = 512 * 1024 * 1024
_WARM_UP_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string", "maxLength": 100}},
    "required": ["a", "b"],
}
_WARM_UP_TEXT = '{"a": "x y", "b": "x y"}'
FRAME_ROWS_BYTES_LIMIT = 128 * 1024 * 1024
"""Memory of the rows that grammars of one compiler share."""
DEFAULT_COMPILE_SECONDS = 5.0
DEFAULT_STEP_SECONDS = 1.0
DEFAULT_WARM_UP_SECONDS = 0.006


class GrammarSource(Hashable, Protocol):
    """What a grammar can be built from. Equal sources build equal grammars."""

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar: ...


class GrammarCompiler:
    """Compiles grammars for one tokenizer. Thread-safe.

    Compiled grammars are cached by their text, at most `cache_limit_bytes` of them (-1: no limit); equal
    requests that come together compile once. At most `max_threads` grammars are compiled at a time; other
    threads wait for their turn. Masks of one grammar take at most `mask_limit_bytes`. A compile, from
    the text on, takes at most `compile_seconds`, a mask and an accepted token or text `step_seconds` of
    processor time; beyond that they raise GrammarLimitError. A compile spends up to `warm_up_seconds` of
    that, less where building the grammar took long, on masks that its first text is likely to need, where
    texts are like JSON; 0 leaves them all to the texts. (`warm_up` is for what all schemas share.)
    """

    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
        mask_limit_bytes: int = DEFAULT_MASK_BYTES_LIMIT,
        compile_seconds: float = DEFAULT_COMPILE_SECONDS,
        step_seconds: float = DEFAULT_STEP_SECONDS,
        warm_up_seconds: float = DEFAULT_WARM_UP_SECONDS,
    ) -> None:
        if cache_limit_bytes < -1 or mask_limit_bytes < 1:
            raise ValueError("cache_limit_bytes must be -1 or more, mask_limit_bytes positive")
        if max_threads < 1:
            raise ValueError("max_threads must be positive")
        self._compiles = threading.BoundedSemaphore(max_threads)
        self._tokenizer_info = tokenizer_info
        if compile_seconds <= 0 or step_seconds <= 0:
            raise ValueError("compile_seconds and step_seconds must be positive")
        if not warm_up_seconds >= 0:
            raise ValueError("warm_up_seconds must be 0 or more")
        self._mask_limit_bytes = mask_limit_bytes
        self._compile_seconds = compile_seconds
        self._step_seconds = step_seconds
        self._warm_up_seconds = warm_up_seconds
        self._vocabulary = tokenizer_info.native_vocabulary
        self._frame_rows = _native.FrameRows(FRAME_ROWS_BYTES_LIMIT)
        self._cache_enabled = cache_enabled
        self._cache = SingleFlightCache[CompiledGrammar](_memory_size, cache_limit_bytes)

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary grammars are compiled for."""
        return self._tokenizer_info

    @property
    def cache_limit_bytes(self) -> int:
        """The cache's limit; -1 for none."""
        return self._cache.limit_bytes

    def compile_grammar(self, grammar: str | Grammar, *, root_rule_name: str = "root") -> CompiledGrammar:
        """The compiled form of EBNF text or of a grammar (whose own root counts).

        Raises GrammarError for text that is not a grammar or a root that matches nothing, GrammarLimitError
        where a limit is exceeded.
        """
        if isinstance(grammar, Grammar):
            with deadline(self._compile_seconds):
                return self._compile(grammar, 0.0)
        if not isinstance(grammar, str):
            raise TypeError(f"a grammar is text or a Grammar, not {type(grammar).__name__}")
        return self._compile_cached(
            (grammar, root_rule_name), lambda: Grammar.from_ebnf(grammar, root_rule_name=root_rule_name)
        )

    def compile_lark(
        self, text: str, *, named_grammars: Mapping[str, str | Grammar] | None = None
    ) -> CompiledGrammar:
        """The compiled form of text in the Lark dialect, with the special tokens of the compiler's tokenizer.

        Arguments and errors are those of `Grammar.from_lark`, and those of `compile_grammar`.
        """
        if not isinstance(text, str):
            raise TypeError(f"a Lark grammar is text, not {type(text).__name__}")
        named = tuple(sorted((named_grammars or {}).items(), key=itemgetter(0)))
        return self._compile_cached(
            ("lark", text, named),
            lambda: Grammar.from_lark(
                text, tokenizer_info=self._tokenizer_info, named_grammars=named_grammars
            ),
        )

    def compile_json_schema(
        self,
        schema: str | dict[str, Any] | bool | type[Any],
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        whitespace_pattern: str | None = None,
        any_order: bool = False,
        lexical: Literal["natural", "any"] = "natural",
        loosen: Iterable[str] = (),
        documents: Mapping[str, Any] | None = None,
    ) -> CompiledGrammar:
        """The compiled form of a JSON schema; arguments and errors as in `Grammar.from_json_schema`."""
        with deadline(self._compile_seconds):
            text = schema_text(schema)
        loosened = tuple(sorted(loosen))
        bundled = {uri: schema_text(document) for uri, document in (documents or {}).items()}
        separator_pair = None if separators is None else tuple(separators)
        key = ("json_schema", text, any_whitespace, indent, separator_pair, strict_mode, max_whitespace_cnt)
        rest = (whitespace_pattern, any_order, lexical, loosened, tuple(sorted(bundled.items())))
        return self._compile_cached(
            (*key, *rest),
            lambda: Grammar.from_json_schema(
                text,
                any_whitespace=any_whitespace,
                indent=indent,
                separators=separators,
                strict_mode=strict_mode,
                max_whitespace_cnt=max_whitespace_cnt,
                whitespace_pattern=whitespace_pattern,
                any_order=any_order,
                lexical=lexical,
                loosen=loosened,
                documents=documents,
            ),
        )

    def compile_builtin_json_grammar(self) -> CompiledGrammar:
        """The compiled form of `Grammar.builtin_json_grammar`."""
        return self._compile_cached(("builtin_json",), Grammar.builtin_json_grammar)

    def compile_structural_tag(self, tag: Any, triggers: Iterable[str] | None = None) -> CompiledGrammar:
        """The compiled form of a structural tag; arguments and errors as in `Grammar.from_structural_tag`."""
        with deadline(self._compile_seconds):
            document = read_document(tag, triggers)
        return self._compile_cached(
            ("structural_tag", document.text()),
            lambda: grammar_of_tag(document, self._tokenizer_info),
        )

    def compile_regex(self, pattern: str, *, flags: str | None = None) -> CompiledGrammar:
        """The compiled form of a regular expression; arguments and errors as in `Grammar.from_regex`."""
        return self._compile_cached(
            ("regex", pattern, flags), lambda: Grammar.from_regex(pattern, flags=flags)
        )

    def _compile_cached(
        self, key: Hashable, build: Callable[[], Grammar], cancellation: Cancellation | None = None
    ) -> CompiledGrammar:
        """The compiled form of what `build` builds, from the cache if it has the key."""

        def compile_() -> CompiledGrammar:
            start = time.thread_time()
            with paused_collector(), deadline(self._compile_seconds, cancellation):
                grammar = build()
                return self._compile(grammar, time.thread_time() - start)

        return self._cache.get(key, compile_) if self._cache_enabled else compile_()

    def find_cached(self, grammar: str, *, root_rule_name: str = "root") -> CompiledGrammar | None:
        """The compiled form of EBNF text if it is in the cache. Never waits."""
        return self._cache.find((grammar, root_rule_name))

    def compile_source(
        self, source: GrammarSource, cancellation: Cancellation | None = None
    ) -> CompiledGrammar:
        """The compiled form of what `source` builds; equal sources are built and compiled once.

        Another thread may give it up by `cancellation.cancel()`; it ends soon then, with CancelledError.
        Raises what building it raises, and GrammarError and GrammarLimitError as `compile_grammar` does.
        """
        return self._compile_cached(source, lambda: source.build(self._tokenizer_info), cancellation)

    def find_source(self, source: GrammarSource) -> CompiledGrammar | None:
        """The compiled form of a source if it is in the cache. Never waits."""
        return self._cache.find(source)

    def warm_up(self) -> None:
        """Find the masks of JSON's strings, which all schemas share, ahead of any compile: some 20 ms."""
        import numpy as np

        native = self._compile(Grammar.from_json_schema(_WARM_UP_SCHEMA), 0.0).native
        matcher = _native.Matcher(native)
        mask = np.zeros(get_bitmask_shape(1, self._tokenizer_info.vocab_size), dtype=np.int32)
        for character in _WARM_UP_TEXT:
            matcher.fill_next_token_bitmask(mask)
            matcher.accept_string(character)

    def clear_cache(self) -> None:
        """Forget all compiled grammars; those in use stay valid."""
        self._cache.clear()

    def get_cache_size_bytes(self) -> int:
        """Bytes that the cached grammars use now."""
        return self._cache.size_bytes()

    def _compile(self, grammar: Grammar, seconds_before: float) -> CompiledGrammar:
        with self._compiles:
            return self._compile_now(grammar, self._warm_up_seconds_after(seconds_before))

    def _warm_up_seconds_after(self, seconds: float) -> float:
        """What the first masks may take; less where it took long to build the grammar."""
        longest = self._warm_up_seconds
        return max(longest / 4, min(longest, 2 * longest - seconds))

    def _compile_now(self, grammar: Grammar, warm_up_seconds: float) -> CompiledGrammar:
        check_now()
        program = lower_grammar(Grammar(resolve_markers(grammar.rules), grammar.root), NATIVE_EXPANSIONS)
        check_now()

        def build() -> _native.CompiledGrammar:
            return _native.compile(
                program.words,
                program.literals,
                program.rule_names,
                program.root,
                self._vocabulary,
                self._frame_rows,
                self._mask_limit_bytes,
                self._compile_seconds,
                self._step_seconds,
                warm_up_seconds,
            )

        try:
            return CompiledGrammar(build, grammar, self._tokenizer_info, program.capture_names)
        except GrammarLimitError:
            raise
        except GrammarError:
            grammar.explain_emptiness()
            raise


def _memory_size(compiled: CompiledGrammar) -> int:
    return compiled.memory_size_bytes
