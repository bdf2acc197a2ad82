"""What matchers offer beside accepting and masks: jump-forward, stop tokens, draft trees, batches, arrays."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch

import grammar_core
from tests.grammar_core.matchers import allowed, compiler_for, matcher_for

LETTERS = ("a", "b", "ab", "x")


def test_jump_forward_string_is_what_must_come() -> None:
    assert matcher_for('root ::= "hello world" [0-9]+', "h").find_jump_forward_string() == "hello world"


def test_jump_forward_string_stops_at_a_choice() -> None:
    assert matcher_for('root ::= "hello" | "help"', "h").find_jump_forward_string() == "hel"


def test_jump_forward_string_stops_where_the_text_may_end() -> None:
    matcher = matcher_for('root ::= "ab" "x"?', "a")
    assert matcher.find_jump_forward_string() == "ab"
    assert matcher.accept_string("ab")
    assert matcher.find_jump_forward_string() == ""


def test_jump_forward_string_has_whole_characters_only() -> None:
    """Two characters that share their first byte force nothing."""
    assert matcher_for('root ::= "a" ("é" | "è")', "a").find_jump_forward_string() == "a"


def test_jump_forward_string_stops_before_a_token_of_a_set() -> None:
    assert matcher_for('root ::= "ab" Token(1) "x"', "a").find_jump_forward_string() == ""


def test_jump_forward_tokens_are_the_longest() -> None:
    matcher = matcher_for('root ::= "abab" [0-9]', *LETTERS)
    assert matcher.find_jump_forward_tokens() == [3, 3]


def test_jump_forward_tokens_withhold_the_beginning_of_a_longer_one() -> None:
    matcher = matcher_for('root ::= "xa" ("b" | "c")', *LETTERS)
    assert matcher.find_jump_forward_tokens() == [4]


def test_overridden_stop_tokens_replace_the_tokenizers() -> None:
    matcher = matcher_for('root ::= "a" "a"*', *LETTERS, override_stop_tokens=[4])
    assert matcher.stop_token_ids == [4]
    assert allowed(matcher, 5) == {1}
    assert matcher.accept_token(1)
    assert allowed(matcher, 5) == {1, 4}
    assert not matcher.accept_token(0)
    assert matcher.accept_token(4)
    assert matcher.is_terminated()
    assert allowed(matcher, 5) == set()


def test_overridden_stop_token_is_no_text_before_the_end() -> None:
    """An overridden stop token was allowed in the middle of a text."""
    matcher = matcher_for('root ::= "a" "b"', *LETTERS, override_stop_tokens=2)
    assert matcher.accept_token(1)
    assert allowed(matcher, 5) == set()
    assert not matcher.accept_token(2)


def test_override_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="stop token id 5"):
        matcher_for('root ::= "a"', *LETTERS, override_stop_tokens=[5])


def test_termination_without_stop_token() -> None:
    matcher = matcher_for('root ::= "a" "b"?', *LETTERS, terminate_without_stop_token=True)
    assert not matcher.is_terminated()
    assert matcher.accept_token(1)
    assert matcher.is_terminated()
    assert allowed(matcher, 5) == set()
    assert not matcher.accept_token(2)
    matcher.rollback()
    assert not matcher.is_terminated()


def test_forks_keep_stop_tokens() -> None:
    fork = matcher_for('root ::= "a"', *LETTERS, override_stop_tokens=[4]).fork()
    assert fork.accept_token(1)
    assert allowed(fork, 5) == {4}
    assert fork.stop_token_ids == [4]


class TestDraftTree:
    """Root, its children 1 and 2, and 3 below 1."""

    children = torch.tensor([1, 3, -1, -1])
    siblings = torch.tensor([-1, 2, -1, -1])

    def traverse(
        self, matcher: grammar_core.GrammarMatcher, tokens: list[int], **options: Any
    ) -> list[set[int]]:
        bitmask = torch.full((4, 1), 0x5555, dtype=torch.int32)
        assert matcher.traverse_draft_tree(
            self.children, self.siblings, torch.tensor(tokens), bitmask, **options
        )
        return [{i for i in range(5) if int(row) >> i & 1} for row in bitmask[:, 0]]

    def test_rows_are_the_masks_after_the_nodes_tokens(self) -> None:
        matcher = matcher_for('root ::= ("a" | "b" "x")+', *LETTERS)
        assert self.traverse(matcher, [0, 1, 2, 2]) == [{1, 2, 3}, {0, 1, 2, 3}, {4}, {4}]
        assert matcher.step_count == 0

    def test_rows_below_a_refused_node_are_zero(self) -> None:
        matcher = matcher_for('root ::= ("a" | "b" "x")+', *LETTERS)
        assert self.traverse(matcher, [0, 4, 1, 1]) == [{1, 2, 3}, set(), {0, 1, 2, 3}, set()]

    def test_temperatures(self) -> None:
        matcher = matcher_for(
            'root ::= a "x"\na[temperature=0.25] ::= "a" "b"\n', *LETTERS, default_temperature=2
        )
        temperatures = torch.zeros(4)
        self.traverse(matcher, [0, 1, 4, 2], temperatures=temperatures)
        assert temperatures.tolist() == [0.25, 0.25, -1, 2]

    def test_time_threshold(self) -> None:
        matcher = matcher_for('root ::= "a"+', *LETTERS)
        bitmask = torch.zeros((4, 1), dtype=torch.int32)
        tokens = torch.tensor([0, 1, 1, 1])
        assert not matcher.traverse_draft_tree(self.children, self.siblings, tokens, bitmask, 0.0)
        assert matcher.step_count == 0

    @pytest.mark.parametrize(
        ("children", "message"),
        [([1, 0, -1, -1], "cycle"), ([7, -1, -1, -1], "out of range"), ([0], "for each node")],
    )
    def test_bad_links(self, children: list[int], message: str) -> None:
        matcher = matcher_for('root ::= "a"+', *LETTERS)
        bitmask = torch.zeros((4, 1), dtype=torch.int32)
        tokens = torch.tensor([0, 1, 1, 1])
        with pytest.raises(ValueError, match=message):
            matcher.traverse_draft_tree(torch.tensor(children), self.siblings, tokens, bitmask)


class TestBatch:
    def test_masks_and_tokens_equal_those_of_single_matchers(self) -> None:
        compiler = compiler_for(*LETTERS)
        grammars = ['root ::= "a"+', "root ::= [^]*", 'root ::= "x" "b"', 'root ::= ("ab"){2,90}'] * 8
        matchers = [grammar_core.GrammarMatcher(compiler.compile_grammar(g)) for g in grammars]
        singles = [grammar_core.GrammarMatcher(compiler.compile_grammar(g)) for g in grammars]
        batch = grammar_core.BatchGrammarMatcher(max_threads=4)
        bitmask = grammar_core.allocate_token_bitmask(len(grammars), 5)
        for token in (1, 3, 4, 2):
            batch.batch_fill_next_token_bitmask(matchers, bitmask)
            for row, single in zip(bitmask[:, 0], singles, strict=True):
                assert {i for i in range(5) if int(row) >> i & 1} == allowed(single, 5)
            expected = [single.accept_token(token) for single in singles]
            assert batch.batch_accept_token(matchers, [token] * len(matchers)) == expected

    def test_rows_by_index(self) -> None:
        matcher = matcher_for('root ::= "a"', *LETTERS)
        bitmask = np.zeros((3, 1), dtype=np.int32)
        grammar_core.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher], bitmask, [2])
        assert bitmask[:, 0].tolist() == [0, 0, 2]

    def test_strings_and_rollback(self) -> None:
        matchers = [matcher_for('root ::= "abc"+', *LETTERS) for _ in range(3)]
        batch = grammar_core.BatchGrammarMatcher(2)
        assert batch.batch_accept_string(matchers, ["abc", b"x", "ab"]) == [True, False, True]
        with pytest.raises(RuntimeError, match="history"):
            batch.batch_rollback(matchers)
        assert [m.step_count for m in matchers] == [1, 0, 1]
        batch.batch_rollback(matchers, [1, 0, 1])
        assert [m.step_count for m in matchers] == [0, 0, 0]

    def test_temperatures(self) -> None:
        matchers = [
            matcher_for('root[temperature=0.5] ::= "a"', *LETTERS),
            matcher_for('root ::= "a"', *LETTERS),
            matcher_for('root ::= "a"', *LETTERS, default_temperature=1.5),
        ]
        temperatures = torch.zeros(3)
        grammar_core.BatchGrammarMatcher().batch_fill_temperature(matchers, temperatures)
        assert temperatures.tolist() == [0.5, -1, 1.5]

    def test_lengths_must_agree(self) -> None:
        batch = grammar_core.BatchGrammarMatcher()
        matcher = matcher_for('root ::= "a"', *LETTERS)
        with pytest.raises(ValueError, match="one token for each"):
            batch.batch_accept_token([matcher], [1, 2])
        with pytest.raises(ValueError, match="one index for each"):
            batch.batch_fill_next_token_bitmask([matcher], np.zeros((1, 1), dtype=np.int32), [0, 1])

    def test_threads_must_be_positive(self) -> None:
        with pytest.raises(ValueError, match="max_threads"):
            grammar_core.BatchGrammarMatcher(0)


@pytest.mark.parametrize(
    "bitmask",
    [
        np.zeros((1, 2), dtype=np.int32),
        np.zeros((1, 1), dtype=np.int64),
        np.zeros((1, 1, 1), dtype=np.int32),
        np.zeros((4, 4), dtype=np.int32)[:, :1],
        torch.zeros((1, 1), dtype=torch.int64),
        torch.zeros((1, 2), dtype=torch.int32),
        torch.zeros((4, 4), dtype=torch.int32)[:, :1],
        "mask",
        None,
    ],
)
def test_other_arrays_are_refused(bitmask: Any) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError, BufferError)):
        matcher_for('root ::= "a"', *LETTERS).fill_next_token_bitmask(bitmask)


@pytest.mark.parametrize("index", [-1, 2])
def test_row_out_of_range_is_refused(index: int) -> None:
    with pytest.raises(IndexError):
        matcher_for('root ::= "a"', *LETTERS).fill_next_token_bitmask(np.zeros((2, 1), dtype=np.int32), index)


def test_one_row_is_enough() -> None:
    bitmask = np.zeros(1, dtype=np.int32)
    matcher_for('root ::= "a"', *LETTERS).fill_next_token_bitmask(bitmask)
    assert bitmask[0] == 2


def test_rollback_beyond_the_history() -> None:
    matcher = matcher_for('root ::= "a"+', *LETTERS)
    assert matcher.accept_token(1)
    with pytest.raises(RuntimeError, match="only 1"):
        matcher.rollback(2)
    assert matcher.step_count == 1


def test_forks_run_in_threads() -> None:
    matcher = matcher_for(
        'root ::= item ("," item)*\nitem ::= [a-z]{1,90} | "(" root ")"', "a", ",", "(", ")", "aa"
    )
    assert matcher.accept_string("a,(a")
    failures: list[str] = []

    def walk(fork: grammar_core.GrammarMatcher, token: int) -> None:
        for _ in range(300):
            if not fork.accept_token(token) or 5 not in allowed(fork, 6):
                failures.append("refused")
            fork.rollback()

    threads = [threading.Thread(target=walk, args=(matcher.fork(), token)) for token in (1, 5, 2, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_mask_of_all_tokens_need_not_be_applied() -> None:
    info = grammar_core.TokenizerInfo([b"a", b"b", b"c"], stop_token_ids=[2])
    compiler = grammar_core.GrammarCompiler(info)
    bitmask = np.zeros(1, dtype=np.int32)
    anything = grammar_core.GrammarMatcher(compiler.compile_grammar("root ::= [a-b]*"))
    assert not anything.fill_next_token_bitmask(bitmask)
    something = grammar_core.GrammarMatcher(compiler.compile_grammar("root ::= [a]*"))
    assert something.fill_next_token_bitmask(bitmask)


def test_grammars_are_text() -> None:
    with pytest.raises(TypeError, match="not bytes"):
        compiler_for("a").compile_grammar(b'root ::= "a"')  # type: ignore[arg-type]


def generate(matcher: grammar_core.GrammarMatcher, steps: int) -> None:
    for _ in range(steps):
        matcher.fill_next_token_bitmask(np.zeros(1, dtype=np.int32))
        assert matcher.accept_token(0)


def test_time_limits() -> None:
    """Nobody waits for a grammar whose masks take minutes."""
    info = grammar_core.TokenizerInfo([b"a", b"aa", b"b", b"</s>"], stop_token_ids=[3])
    compiler = grammar_core.GrammarCompiler(info, step_seconds=0.05)
    ranges = " ".join(f"[a-z]{{0,{100 + i}}}" for i in range(300))
    matcher = grammar_core.GrammarMatcher(compiler.compile_grammar(f"root ::= {ranges}"))
    with pytest.raises(grammar_core.GrammarLimitError, match=r"takes more than|too many readings"):
        generate(matcher, 50)
    slow = grammar_core.GrammarCompiler(info, compile_seconds=0.001)
    with pytest.raises(grammar_core.GrammarLimitError, match="Compiling the grammar"):
        slow.compile_grammar("root ::= " + '"a"? ' * 100_000)


def test_cached_grammars_are_found_without_waiting() -> None:
    compiler = compiler_for("a")
    assert compiler.find_cached('root ::= "a"') is None
    compiled = compiler.compile_grammar('root ::= "a"')
    assert compiler.find_cached('root ::= "a"') is compiled
