"""Beams: against a search of plain lists, against every hypothesis there is, and what they refuse."""

import itertools
import math

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from oracles import rnn as oracle
from varlen import sequence

torch = pytest.importorskip("torch")


@st.composite
def searches(draw):
    """How likely each token follows each, some impossible; no two hypotheses score alike."""
    tokens = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    follows = np.log(rng.random((tokens, tokens)))
    follows[rng.random((tokens, tokens)) < draw(st.sampled_from([0, 0.3]))] = -np.inf
    first = draw(st.lists(st.integers(0, tokens - 1), max_size=3))
    return follows, first, draw(st.integers(1, 5)), draw(st.integers(0, 4)), draw(st.sampled_from([None, 0]))


@given(searches(), st.booleans())
def test_beam_is_a_search_source_by_source(search, tensors):
    follows, first, k, steps, end = search
    like = torch.from_numpy(follows) if tensors else follows
    beam = sequence.Beam(len(first), first=first, like=like)
    for _ in range(steps):
        beam = beam.step(like[beam.tokens.values], k, end)
    wanted = oracle.beam(follows.tolist(), first, k, steps, end)
    assert beam.hypotheses().to_list() == [[tokens for _, tokens in best] for best in wanted]
    scores = [score for best in wanted for score, _ in best]
    assert beam.scores.values.tolist() == pytest.approx(scores)
    assert beam.level.lengths.tolist() == [len(best) for best in wanted]
    ended = [bool(tokens) and tokens[-1] == end for best in wanted for _, tokens in best]
    assert beam.finished.values.tolist() == ended
    assert beam.done == all(ended)


def test_beam_finds_the_best_of_all_hypotheses():
    rng = np.random.default_rng(0)
    follows = np.log(rng.random((4, 4)))
    beam = sequence.Beam(4, first=np.arange(4), like=follows)
    for _ in range(4):
        beam = beam.step(follows[beam.tokens.values], k=4**3)
    for source in range(4):
        every = [
            (sum(follows[a, b] for a, b in itertools.pairwise((source, *tokens))), list(tokens))
            for tokens in itertools.product(range(4), repeat=4)
        ]
        best = max(every)
        assert beam.hypotheses()[source].to_list()[0] == best[1]
        assert beam.scores[source][0] == pytest.approx(best[0])


def test_beam_gathers_states():
    beam = sequence.Beam(2, like=np.zeros(0)).step(np.log([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]), k=2)
    assert beam.parents.tolist() == [0, 0, 1, 1]
    beam = beam.step(np.log([[0.1, 0.1, 0.1], [0.9, 0.8, 0.1], [0.3, 0.2, 0.1], [0.9, 0.1, 0.2]]), k=2)
    assert beam.parents.tolist() == [1, 1, 2, 3]
    state = np.array([[0], [1], [2], [3]])
    h, rest = beam.gather((state, vl.Ragged(np.arange(6), [0, 3, 1, 2])))
    assert h.ravel().tolist() == [1, 1, 2, 3]
    assert rest.to_list() == [[0, 1, 2], [0, 1, 2], [3], [4, 5]]
    assert beam.gather(torch.from_numpy(state)).ravel().tolist() == [1, 1, 2, 3]
    assert repr(beam) == "Beam(2 sources, 4 hypotheses, 0 of them ended)"
    assert beam.scores.lengths.tolist() == [2, 2]


def test_beam_keeps_what_has_ended_while_it_is_among_the_best():
    beam = sequence.Beam(1, like=np.zeros(0)).step(np.array([[-3.0, -1.0]]), k=2, end=1)
    assert beam.finished.to_list() == [[True, False]]
    beam = beam.step(np.array([[math.nan, math.inf], [-0.5, -9.0]]), k=2, end=1)
    assert beam.hypotheses().to_list() == [[[1], [0, 0]]]
    assert beam.tokens.to_list() == [[1, 0]]
    beam = beam.step(np.array([[0.0, 0.0], [3.0, 2.9]]), k=2, end=1)
    assert beam.hypotheses().to_list() == [[[0, 0, 0], [0, 0, 1]]]


def test_beam_scores_have_gradients():
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)

    def scores(x):
        beam = sequence.Beam(2, like=x).step(x, 2, end=0)
        return beam.step(x[beam.tokens.values % 2], 3, end=0).scores.values

    assert torch.autograd.gradcheck(scores, x)


BEAM = sequence.Beam(2, like=np.zeros(0))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sequence.Beam(-1), ValueError, "sources: expected"),
        (lambda: BEAM.step(np.zeros((3, 2)), 1), ValueError, "a row for each of 2 hypotheses, got shape"),
        (lambda: BEAM.step(np.zeros((2, 0)), 1), ValueError, "a row for each of 2 hypotheses"),
        (lambda: BEAM.step(np.zeros((2, 2)), 0), ValueError, "k: expected"),
        (lambda: BEAM.step(torch.zeros(2, 2), 1), TypeError, "expected the same kind as the beam's"),
        (lambda: BEAM.step(np.array([[0, 1], [0, np.nan]]), 9), ValueError, "row of hypothesis 1 holds NaN"),
        (lambda: BEAM.gather(np.zeros(3)), ValueError, "state: has 3 rows, but there were 2 hypotheses"),
    ],
)
def test_beam_refuses_what_does_not_fit(call, error, text):
    with pytest.raises(error, match=text):
        call()
