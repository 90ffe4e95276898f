"""Beams: what ends a hypothesis, what they start with, and NaN, which is never dropped."""

import itertools
import math

import numpy as np
import pytest
import varlen as vl

torch = pytest.importorskip("torch")

FOLLOWS = np.log(np.random.default_rng(0).random((4, 4)))


def searched(end, steps=3, k=99, like=FOLLOWS):
    beam = vl.Beam(2, first=[0, 3], like=like)
    for _ in range(steps):
        beam = beam.step(like[beam.tokens.values], k, end)
    return beam


@pytest.mark.parametrize(
    "end", [(1, 2), [2, 1, 1], np.array([1, 2], np.uint8), range(1, 3), torch.tensor([2, 1])]
)
def test_any_of_several_tokens_ends_a_hypothesis(end):
    every = {
        tokens
        for count in (1, 2, 3)
        for tokens in itertools.product(range(4), repeat=count)
        if not {1, 2} & set(tokens[:-1]) and (count == 3 or tokens[-1] in (1, 2))
    }
    for like in (FOLLOWS, torch.from_numpy(FOLLOWS)):
        beam = searched(end, like=like)
        for source in range(2):
            result = [tuple(tokens) for tokens in beam.hypotheses()[source].to_list()]
            assert sorted(result) == sorted(every)
            assert [tokens[-1] for tokens in result] == beam.tokens[source].tolist()
            assert [tokens[-1] in (1, 2) for tokens in result] == beam.finished[source].tolist()


def test_one_token_may_come_in_a_list_and_none_as_none():
    for end in ([2], np.array(2), np.int8(2), torch.tensor(2)):
        assert searched(end, k=3).hypotheses().equals(searched(2, k=3).hypotheses())
    for end in ([], (), np.zeros(0, int)):
        assert searched(end, k=3).hypotheses().equals(searched(None, k=3).hypotheses())
        assert not searched(end, k=3).finished.values.any()


def best_hypotheses(ends, k):
    """(score, tokens, ended) of the best from token 0 on, where ends[t] are the tokens that end at step t."""
    best = [(0.0, [], False)]
    for end in ends:
        more = []
        for score, tokens, ended in best:
            row = FOLLOWS[tokens[-1] if tokens else 0]
            grown = [(score + p, [*tokens, v], v in end) for v, p in enumerate(row)]
            more += [(score, tokens, True)] if ended else grown
        best = sorted(more, key=lambda one: -one[0])[:k]
    return best


@pytest.mark.parametrize("tensors", [False, True])
@pytest.mark.parametrize("k", [1, 3, 99])
@pytest.mark.parametrize(
    "ends", [[(1,), (2,), (3,)], [(1,), (), ()], [(), (1,), (2, 3)], [(0, 1), (1,), (2,)]]
)
def test_what_has_ended_stays_ended_whatever_ends_later(ends, k, tensors):
    like = torch.from_numpy(FOLLOWS) if tensors else FOLLOWS
    beam = vl.Beam(1, like=like)
    for t, end in enumerate(ends):
        beam = beam.step(like[beam.tokens.values], k, end)
        want = best_hypotheses(ends[: t + 1], k)
        assert beam.hypotheses().to_list() == [[tokens for _, tokens, _ in want]]
        assert beam.finished.to_list() == [[ended for _, _, ended in want]]
        assert beam.tokens.to_list() == [[tokens[-1] for _, tokens, _ in want]]
        np.testing.assert_allclose(np.asarray(beam.scores.values), [score for score, _, _ in want])
        assert beam.done == all(ended for _, _, ended in want)


@pytest.mark.parametrize("tensors", [False, True])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_nan_is_refused_wherever_it_is(k, tensors):
    def step(beam, rows, **options):
        rows = np.array(rows)
        return beam.step(torch.from_numpy(rows).requires_grad_() if tensors else rows, k=k, **options)

    like = torch.zeros(0, dtype=torch.float64) if tensors else np.zeros(0)
    with pytest.raises(ValueError, match=r"^log_probs: the row of hypothesis 0 holds NaN at token 1$"):
        step(vl.Beam(1, like=like), [[-1, math.nan, -2]])
    with pytest.raises(ValueError, match=r"hypothesis 1 holds NaN at token 0$"):
        step(vl.Beam(2, like=like), [[-1, -math.inf], [math.nan, math.nan]])
    beam = step(vl.Beam(1, like=like), [[math.inf, -math.inf]])
    with pytest.raises(
        ValueError,
        match=r"^log_probs: the row of hypothesis 0 holds -inf at token 1, NaN beside its score, inf$",
    ):
        step(beam, [[-1, -math.inf]])


def test_rows_of_what_has_ended_may_hold_nan():
    beam = vl.Beam(2, like=np.zeros(0)).step(np.array([[0, -math.inf], [-math.inf, 0]]), k=1, end=0)
    beam = beam.step(np.array([[math.nan, math.nan], [-1, -2]]), k=2, end=0)
    assert beam.hypotheses().to_list() == [[[0]], [[1, 0], [1, 1]]]
    nothing = vl.Beam(0).step(np.zeros((0, 2), np.float32), k=1)
    assert len(nothing) == 0


def test_ended_hypotheses_behind_others_are_named_by_their_own_number():
    beam = vl.Beam(1, like=np.zeros(0)).step(np.array([[-1.0, -2.0, -3.0]]), k=3, end=0)
    with pytest.raises(ValueError, match="the row of hypothesis 2 holds NaN at token 1"):
        beam.step(np.array([[math.nan] * 3, [-1, -2, -3], [-1, math.nan, -3]]), k=1, end=0)


def test_a_beam_starts_with_what_it_is_given():
    for first in ([1, -2], np.array([1, -2], np.int8), torch.tensor([1, -2]), (1, -2)):
        assert vl.Beam(2, first=first).tokens.to_list() == [[1], [-2]]
    assert vl.Beam(2, first=7).tokens.to_list() == [[7], [7]]
    assert vl.Beam(0, first=[]).tokens.to_list() == []


LOGS = np.zeros((2, 3), np.float32)


def ended(end):
    return lambda: vl.Beam(2).step(LOGS, 2, end)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (ended(3), IndexError, "end: token 3 is out of range for 3 tokens"),
        (ended(-1), IndexError, "end: token -1 is out of range for 3 tokens"),
        (ended(2**70), IndexError, "end: token 1180591620717411303424 is out of range"),
        (ended([0, 3]), IndexError, r"end\[1\]: token 3 is out of range for 3 tokens"),
        (ended(1.0), TypeError, "end: expected an int, got 1.0"),
        (ended(True), TypeError, "end: expected an int, got True"),
        (ended("1"), TypeError, "end: expected an int, got '1'"),
        (ended("12"), TypeError, "end: expected an int, got '12'"),
        (ended([1, 2.0]), TypeError, r"end\[1\]: expected an int, got 2.0"),
        (ended(["1"]), TypeError, r"end\[0\]: expected an int, got '1'"),
        (ended(np.array([0.5])), TypeError, r"end\[0\]: expected an int"),
        (ended({0, 1}), TypeError, "end: expected an int, got {0, 1}"),
        (ended([[1]]), TypeError, r"end\[0\]: expected an int, got \[1\]"),
        (ended(np.zeros((1, 2), int)), ValueError, r"end: expected one token, or .* got shape \(1, 2\)"),
        (lambda: vl.Beam(2, first=[0.7, 1.9]), TypeError, "first: expected integers, got float64"),
        (lambda: vl.Beam(2, first="a"), TypeError, "first: expected integers"),
        (lambda: vl.Beam(2, first=None), TypeError, "first: expected integers, got object"),
        (lambda: vl.Beam(2, first=[True, False]), TypeError, "first: expected integers, got bool"),
        (
            lambda: vl.Beam(2, first=[1, 2, 3]),
            ValueError,
            r"first: expected an int, or 2, one for each source, got shape \(3,\)",
        ),
        (lambda: vl.Beam(2, first=[[1], [2]]), ValueError, r"first: expected .* got shape \(2, 1\)"),
        (lambda: vl.Beam(0, first=[1, 2]), ValueError, r"first: expected .* 0, .* got shape \(2,\)"),
        (lambda: vl.Beam(2, first=[[1], [2, 3]]), ValueError, "first: "),
        (lambda: vl.Beam(1, first=2**63), OverflowError, "first: 9223372036854775808 does not fit 63 bits"),
    ],
)
def test_beam_names_what_it_was_given(call, error, text):
    with pytest.raises(error, match=f"^{text}"):
        call()


def test_states_of_stacked_layers_are_gathered():
    beam = vl.Beam(2).step(np.float32([[-1, -2], [-3, -1]]), 2)
    h = np.arange(6).reshape(2, 3)
    result = beam.gather(((h, h + 1), (h + 2, h + 3)))
    assert [[one.tolist() for one in layer] for layer in result] == [
        [(h + a)[[0, 0, 1, 1]].tolist() for a in pair] for pair in ((0, 1), (2, 3))
    ]
    with pytest.raises(ValueError, match=r"state\[1\]\[0\]: has 3 rows, but there were 2 hypotheses"):
        beam.gather(((h, h), (np.zeros(3), h)))
