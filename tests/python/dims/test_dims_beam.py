"""Beams over an ordinary dim: the best of exhaustive search, states taken along, what hypotheses chose."""

import itertools

import numpy as np
import pytest
from varlen import Data, Dim, dims
from varlen.dims import Beam, batch_dim

WORDS = Dim(4, name="words")
EOS = 0


def model(seed, rows):
    """Logs of the words after each word, of each row; the last word before stands on an axis of its own."""
    draw = np.random.default_rng(seed)
    logs = np.log(draw.dirichlet(np.ones(4), (rows, 4)))
    before = Dim(4, name="before")
    return Data(logs, [batch_dim, before, WORDS]), before


def best_of_all(logs, steps):
    """The best sequences of one row with their scores, by trying all that end, or go on to the last step."""
    found = {}
    for words in itertools.product(range(4), repeat=steps):
        ended = words.index(EOS) if EOS in words else steps
        said = words[:ended]
        score, before = 0.0, EOS
        for word in words[: ended + 1]:
            score += logs[before, word]
            before = word
        found[said] = score
    return sorted(found.items(), key=lambda pair: -pair[1])


def search(logs, before, beam, steps):
    """The search itself: hypotheses that ended go on with the end at no cost."""
    rows = logs.axis(batch_dim)
    start = Dim(1, name="start")
    hypotheses = Beam(start, dims.zeros([rows, start], like=logs))
    word = dims.full([rows, start], EOS, like=logs, dtype="int64")._with_facts(sparse_dim=before)
    ended = dims.zeros([rows, start], like=logs, dtype="bool")
    choices = []
    only_the_end = dims.where(dims.range_over_dim(WORDS, like=logs) == EOS, 0.0, -np.inf)
    for _ in range(steps):
        scores = dims.where(ended, only_the_end, dims.gather(logs, word, before), broadcast=True)
        hypotheses, chosen = hypotheses.grow(hypotheses.scores + scores, WORDS, beam)
        ended = hypotheses.select(ended) | (chosen == EOS)
        word = chosen._with_facts(sparse_dim=before)
        choices.append(chosen)
    return hypotheses, hypotheses.backtrace(choices, eos=EOS)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_beam_that_holds_all_finds_the_best_of_all(seed, library):
    logs, before = model(seed, 3)
    numbers = logs.values
    if library == "torch":
        torch = pytest.importorskip("torch")
        logs = logs._like(torch.tensor(numbers))
    hypotheses, said = search(logs, before, Dim(85, name="beam"), 4)
    for row in range(3):
        wanted = best_of_all(numbers[row], 4)
        scores = hypotheses.scores.batch_major().to_list()[row]
        finite = [score for score in scores if np.isfinite(score)]
        assert np.allclose(finite, [score for _, score in wanted][: len(finite)])
        sequences = [tuple(words) for words in said.to_list()[row][: len(finite)]]
        assert len(set(sequences)) == len(finite) == 85
        assert np.allclose(finite, [dict(wanted)[words] for words in sequences])


def test_a_narrow_beam_scores_what_it_says():
    logs, before = model(9, 2)
    hypotheses, said = search(logs, before, Dim(2, name="beam"), 5)
    scores = hypotheses.scores.to_list()
    for row, sequences in enumerate(said.to_list()):
        for place, words in enumerate(sequences):
            path = [EOS, *words, *([EOS] if len(words) < 5 else [])]
            total = sum(logs.values[row, a, b] for a, b in itertools.pairwise(path))
            assert np.isclose(scores[row][place], total)


def test_a_row_alone_is_searched_as_in_its_batch():
    logs, before = model(5, 3)
    whole = search(logs, before, Dim(3, name="beam"), 4)
    for row in range(3):
        part = Data(logs.values[row : row + 1], [batch_dim, before, WORDS])
        alone = search(part, before, Dim(3, name="beam"), 4)
        assert alone[1].to_list() == [whole[1].to_list()[row]]
        assert np.allclose(alone[0].scores.values[0], whole[0].scores.values[row])


PAIR = Dim(2, name="pair")


def three_of_a_pair():
    rows = Dim(3, name="beam")
    src = Data(np.array([[1, 1, 0], [0, 1, 1]]), [batch_dim, rows], sparse_dim=PAIR)
    return Beam(rows, src * 0.0, src, Beam(PAIR, dims.zeros([src.dims[0], PAIR]), name="start"))


def test_states_are_those_of_the_hypotheses_that_go_on():
    beam = three_of_a_pair()
    state = Data(np.arange(8.0).reshape(2, 2, 2), [batch_dim, PAIR, Dim(2, name="units")])
    found = beam.select(state)
    assert found.transpose(["batch", "beam", "units"]).to_list() == [
        [[2, 3], [2, 3], [0, 1]],
        [[4, 5], [6, 7], [6, 7]],
    ]
    assert found.beam is beam
    of_all = Data(np.zeros(2), [batch_dim])
    assert beam.select(of_all) is of_all
    assert beam.parent.select(state) is state


def test_histories_of_any_length_are_taken_whole():
    beam = three_of_a_pair()
    history = Data.from_list([[[7], [8, 9]], [[], [5, 6, 4]]], [batch_dim, PAIR, Dim("said")])
    assert beam.select(history).to_list() == [[[8, 9], [8, 9], [7]], [[], [5, 6, 4], [5, 6, 4]]]


def test_choices_are_followed_back_to_where_they_began():
    beam = three_of_a_pair()
    first = Data(np.array([[10, 11], [12, 13]]), [batch_dim, PAIR])
    second = Data(np.array([[1, 2, 3], [4, 5, 6]]), [batch_dim, beam.dim])
    found = beam.backtrace([first, second])
    assert found.to_list() == [[[11, 1], [11, 2], [10, 3]], [[12, 4], [13, 5], [13, 6]]]
    assert beam.backtrace([second]).to_list() == [[[1], [2], [3]], [[4], [5], [6]]]
    ended = beam.backtrace([first, second], eos=11, out_dim=Dim("said"))
    assert ended.to_list() == [[[], [], [10, 3]], [[12, 4], [13, 5], [13, 6]]]
    assert ended.time_dim.name == "said"
    for choices in ([], [first, first, second]):
        with pytest.raises(ValueError, match=f"choices: expected 1 to 2, one a step, got {len(choices)}"):
            beam.backtrace(choices)


def test_scores_of_hypotheses_have_gradients():
    torch = pytest.importorskip("torch")
    logs, before = model(1, 2)
    values = torch.tensor(logs.values, requires_grad=True)
    hypotheses, _ = search(logs._like(values), before, Dim(2, name="beam"), 3)
    hypotheses.scores.values.sum().backward()
    assert values.grad.sum() >= 4  # each of four hypotheses adds a log for each of its steps


def test_a_beam_says_what_it_lacks():
    beam = three_of_a_pair()
    assert repr(beam) == "Beam([batch(2), beam(3)], 2 steps)"
    assert repr(beam.parent) == "Beam('start', [batch(2), pair(2)], 1 step)"
    with pytest.raises(ValueError, match="scores: 'pair' is not among"):
        Beam(PAIR, beam.scores)
    with pytest.raises(ValueError, match="src: positions on the dim of the parent"):
        Beam(beam.dim, beam.scores, beam.src)
