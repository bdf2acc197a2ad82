from collections.abc import Callable, Sequence
from typing import Any, overload

class Cancellation:
    """A flag that ends the work of another thread."""

    def cancel(self) -> None: ...
    @property
    def is_cancelled(self) -> bool: ...

class Deadline:
    """`begin` and `end` are called on one thread, whose work between them takes at most `seconds`."""

    def __init__(self, seconds: float, cancellation: Cancellation | None) -> None: ...
    def begin(self) -> None: ...
    def end(self) -> None: ...

def check_deadline() -> None:
    """Look at the clock every 64th time."""

def check_deadline_now() -> None: ...

class Vocabulary:
    def __init__(
        self, tokens: list[bytes], stop_tokens: list[int], control_tokens: list[int], size: int
    ) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...

class FrameRows:
    """Rows of frames that many grammars have, for one vocabulary. Thread-safe; at most `limit_bytes`."""

    def __init__(self, limit_bytes: int) -> None: ...
    @property
    def memory_bytes(self) -> int: ...

class CompiledGrammar:
    @property
    def memory_bytes(self) -> int: ...
    @property
    def automaton_bytes(self) -> int:
        """Of those, the bytes of the automaton, which only grows."""

def lower_rules(
    kinds: tuple[type[Any], ...],
    rules: tuple[Any, ...],
    index_of_rule: dict[str, int],
    expansions: dict[type[Any], Callable[[Any], Any]],
) -> tuple[bytes, bytes, list[str]]:
    """The words of the program, the bytes of its literals, and the names of captures.

    Raises KeyError for a rule without an index and for a class of nodes without an expansion.
    """

def compile(
    words: bytes,
    literals: bytes,
    rule_names: list[str],
    root: int,
    vocabulary: Vocabulary,
    frame_rows: FrameRows,
    mask_limit_bytes: int,
    compile_seconds: float,
    step_seconds: float,
    warm_up_seconds: float,
) -> CompiledGrammar: ...

class MemberOrder:
    """Which member may come next in a list of Members. Lists are known by numbers, -1 for none."""

    def __init__(
        self,
        required: list[bool],
        repeatable: list[bool],
        ordered: bool,
        min: int,
        max: int,
        implications: list[tuple[int, int]],
    ) -> None: ...
    @property
    def start(self) -> int:
        """The empty list; -1 if no list is possible."""

    def after(self, configuration: int, member: int) -> int:
        """The list with one more member; -1 if it could not be completed."""

    def is_complete(self, configuration: int) -> bool: ...

class Matcher:
    @overload
    def __init__(
        self, grammar: CompiledGrammar, stop_tokens: list[int] | None = None, ends_when_complete: bool = False
    ) -> None: ...
    @overload
    def __init__(self, source: Matcher) -> None: ...
    def accept_token(self, token_id: int) -> bool:
        """Append a token. False, with the state as before, if it cannot come next."""

    def accept_string(self, text: str | bytes) -> bool:
        """Append a text, all of it or nothing. One step of the history."""

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """Write the mask of the next token into row `index` of an int32 array, on the CPU and contiguous.

        Shape (batch, ceil(vocab_size / 32)), or one row; a numpy array or a torch tensor. False if every
        token is allowed, so that the mask need not be applied. After a stop token nothing is allowed.
        """

    def try_fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """The same if it takes no walk over the vocabulary, so never slow; else False and nothing."""

    def find_jump_forward_string(self) -> str:
        """The text that must come next, whole characters of it; empty where the text may end."""

    def find_jump_forward_tokens(self) -> list[int]:
        """The same as tokens, always the longest; without a last one that a longer token may begin with."""

    def captures(self, deduplicate: bool) -> list[tuple[int, bytes]]:
        """(index of the name, text) of each capture that is complete."""

    def history(self) -> list[bytes]:
        """The text that each step has appended; empty for stop tokens and tokens without text."""

    def is_over_budget(self) -> bool:
        """Whether a rule is active that has used up its budget and could not end."""

    def _over_budget(self) -> None:
        """Called after what exceeded a budget was accepted."""

    def active_temperature(self) -> tuple[float, bool]:
        """The highest temperature of the active rules, or -1, and whether they have different ones."""

    def rollback(self, num_tokens: int = 1) -> None:
        """Undo the last steps. RuntimeError if there are fewer."""

    def reset(self) -> None:
        """Back to the start."""

    def is_completed(self) -> bool:
        """Whether the text is complete: stop tokens are allowed now."""

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""
    @property
    def step_count(self) -> int: ...

class ThreadPool:
    def __init__(self, threads: int) -> None: ...
    def fill_masks(self, matchers: Sequence[Matcher], bitmask: Any, indices: list[int]) -> None: ...
    def accept_tokens(self, matchers: Sequence[Matcher], tokens: list[int]) -> list[bool]: ...
    def accept_texts(self, matchers: Sequence[Matcher], texts: list[bytes]) -> list[bool]: ...

def traverse_draft_tree(
    matcher: Matcher,
    first_child: Any,
    next_sibling: Any,
    tokens: Any,
    bitmask: Any,
    seconds: float,
    temperatures: Any,
    default_temperature: float,
) -> bool: ...

class Dfa:
    """A deterministic automaton over code points. Immutable."""

    @staticmethod
    def from_program(words: bytes, literals: bytes) -> Dfa:
        """Of a program of one rule. Raises GrammarLimitError."""

    def intersect(self, other: Dfa) -> Dfa:
        """The texts in both, as one of the two itself if that has just these; so also of the next two."""

    def unite(self, other: Dfa) -> Dfa: ...
    def subtract(self, other: Dfa) -> Dfa: ...
    def complement(self) -> Dfa: ...
    def with_length(self, min: int, max: int | None) -> Dfa:
        """The texts of `min` to `max` code points."""

    @property
    def state_count(self) -> int: ...
    def is_empty(self) -> bool: ...
    def is_universal(self) -> bool: ...
    def contains(self, text: str) -> bool: ...
    def length_range(self) -> tuple[int, int | None]:
        """Code points of the shortest and the longest text, None without a longest. Not of no texts."""

    def is_endless(self) -> bool: ...
    def can_be_extended(self) -> bool:
        """Whether every text is the beginning of one of one more code point."""

    def shortest_text(self) -> str:
        """The first of the shortest texts. Not of no texts."""

    def all_texts(self, limit: int) -> list[str] | None:
        """Every text in the order of code points, None if they are more than `limit`."""

    def edges(
        self,
        labels_of: Callable[[tuple[tuple[int, int], ...]], tuple[Any, ...]],
        repeat: Callable[[tuple[Any, ...], int, int | None], Any] | None = None,
    ) -> tuple[tuple[int, ...], tuple[tuple[int, int, Any], ...], int]:
        """Accepting states, an edge for each of the labels that `labels_of` has for a set's ranges, and the
        number of states. With `repeat`, a chain of states that only count is one edge: of what that makes of
        the labels and the least and the largest count."""
