"""Models of Thinc and a pipeline of spaCy, trained from nothing: the losses are those on Thinc's own ops.

Training amplifies rounding, and a parser's choice may tip over: of several seeds more than half must agree.
"""

import numpy as np
import pytest

thinc = pytest.importorskip("thinc", reason="thinc is not installed")

from thinc.api import (  # noqa: E402
    Adam,
    CategoricalCrossentropy,
    HashEmbed,
    LayerNorm,
    Maxout,
    Softmax,
    chain,
    clone,
    concatenate,
    expand_window,
    fix_random_seed,
    list2ragged,
    ragged2list,
    reduce_max,
    reduce_mean,
    residual,
    use_ops,
    with_array,
)
from varlen.thinc import VarlenOps, install  # noqa: E402

SEEDS = range(3)
TOLERANCE = 1e-4


def agree(ours, stock):
    """Whether losses, step by step, are the same to the tolerance."""
    return bool(np.all(np.abs(np.subtract(ours, stock)) <= TOLERANCE * np.abs(stock)))


def most(agreed):
    return sum(agreed) * 2 > len(agreed)


def tok2vec(width, depth):
    """Embedded words and their neighbours, as spaCy's: lists of ids in, lists of vectors out."""
    tables = [HashEmbed(width, 50, column=column, seed=column) for column in range(2)]
    embed = chain(concatenate(*tables), Maxout(width, width * 2, nP=3), LayerNorm(width))
    window = chain(expand_window(1), Maxout(width, width * 3, nP=3, normalize=True))
    return chain(
        chain(list2ragged(), with_array(embed), ragged2list()),
        with_array(clone(residual(window), depth), pad=depth),
    )


def thinc_losses(ops, seed, pool):
    """A text classifier on a tok2vec: the loss of each step."""
    rng = np.random.default_rng(seed)
    texts = [rng.integers(1, 60, (n, 2)).astype("uint64") for n in rng.integers(1, 12, 48)]
    truth = np.eye(3, dtype="float32")[[int(text[:, 0].sum()) % 3 for text in texts]]
    losses = []
    with use_ops(ops):
        fix_random_seed(seed)
        model = chain(tok2vec(16, 2), list2ragged(), pool(), Softmax(3))
        model.initialize(texts[:4], truth[:4])
        optimizer, loss = Adam(0.005), CategoricalCrossentropy()
        assert {type(node.ops) for node in model.walk()} == {type(model.ops)}
        assert isinstance(model.ops, VarlenOps) == (ops == "varlen")
        for step in range(12):
            some = slice(step % 3 * 16, step % 3 * 16 + 16)
            guesses, backprop = model.begin_update(texts[some])
            gradient, value = loss(guesses, truth[some])
            backprop(gradient)
            model.finish_update(optimizer)
            losses.append(float(value))
    return losses


@pytest.mark.parametrize("pool", [reduce_mean, reduce_max], ids=["mean", "max"])
def test_thinc_learns_as_on_its_own_ops(pool):
    runs = [(thinc_losses("varlen", seed, pool), thinc_losses("numpy", seed, pool)) for seed in SEEDS]
    assert all(ours[-1] < ours[0] for ours, _ in runs)
    assert most([agree(*run) for run in runs]), runs


WORDS = {
    "DET": ["the", "a", "some", "every"],
    "NOUN": ["cat", "dog", "house", "river", "letter"],
    "VERB": ["sees", "finds", "likes", "writes"],
    "ADP": ["in", "near", "from"],
    "PROPN": ["Berlin", "Lima", "Accra", "Osaka"],
}
SENTENCE = ["DET", "NOUN", "VERB", "DET", "NOUN", "ADP", "PROPN"]
HEADS = [1, 2, 2, 4, 2, 2, 5]
DEPS = ["det", "nsubj", "ROOT", "det", "obj", "prep", "pobj"]

WIDTH = 16
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "*"}
PARSER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "extra_state_tokens": False,
    "hidden_width": 16,
    "maxout_pieces": 2,
    "use_upper": True,
    "nO": None,
    "tok2vec": LISTENER,
}
PIPES = {
    "tok2vec": {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "width": WIDTH,
        "depth": 2,
        "embed_size": 100,
        "window_size": 1,
        "maxout_pieces": 3,
        "subword_features": True,
        "pretrained_vectors": None,
    },
    "tagger": {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": LISTENER},
    "parser": {**PARSER, "state_type": "parser"},
    "ner": {**PARSER, "state_type": "ner"},
    "textcat": {
        "@architectures": "spacy.TextCatReduce.v1",
        "exclusive_classes": True,
        "use_reduce_first": True,
        "use_reduce_last": True,
        "use_reduce_max": True,
        "use_reduce_mean": True,
        "nO": None,
        "tok2vec": LISTENER,
    },
    "spancat": {
        "@architectures": "spacy.SpanCategorizer.v1",
        "tok2vec": LISTENER,
        "reducer": {"@layers": "spacy.mean_max_reducer.v1", "hidden_size": 16},
        "scorer": {"@layers": "spacy.LinearLogistic.v1", "nO": None, "nI": None},
    },
}


def example(nlp, rng):
    """A sentence, sometimes without its end, and all that there is to say of it."""
    from spacy.tokens import Doc
    from spacy.training import Example

    n = int(rng.choice([5, 7]))
    words = [str(rng.choice(WORDS[tag])) for tag in SENTENCE[:n]]
    doc = Doc(nlp.vocab, words=words)
    place = [(doc[6].idx, doc[6].idx + len(doc[6]), "GPE")] if n == 7 else []
    thing = (doc[3].idx, doc[4].idx + len(doc[4]), "THING")
    warm = words[1] in ("cat", "dog")
    truth = {
        "tags": SENTENCE[:n],
        "heads": HEADS[:n],
        "deps": DEPS[:n],
        "entities": place,
        "cats": {"ANIMAL": float(warm), "THING": float(not warm)},
        "spans": {"sc": [thing]},
    }
    return Example.from_dict(doc, truth)


def pipeline(rng):
    """All components on one tok2vec, initialized; with what they learn from, and the optimizer."""
    import spacy

    nlp = spacy.blank("en")
    for name, model in PIPES.items():
        nlp.add_pipe(name, config={"model": model})
    examples = [example(nlp, rng) for _ in range(24)]
    return nlp, examples, nlp.initialize(lambda: examples)


def spacy_losses(ops, seed):
    """The losses of each step, by component."""
    rng = np.random.default_rng(seed)
    losses = {name: [] for name in PIPES}
    with use_ops(ops):
        fix_random_seed(seed)
        nlp, examples, optimizer = pipeline(rng)
        for step in range(6):
            given = {}
            some = examples[step % 2 * 12 : step % 2 * 12 + 12]
            nlp.update(some, sgd=optimizer, drop=0.1, losses=given)
            for name, value in given.items():
                losses[name].append(float(value))
    return losses


@pytest.mark.timeout(120)
def test_spacy_learns_as_on_thincs_own_ops():
    pytest.importorskip("spacy", reason="spacy is not installed")
    runs = [(spacy_losses("varlen", seed), spacy_losses("numpy", seed)) for seed in SEEDS]
    for name in PIPES:
        pairs = [(ours[name], stock[name]) for ours, stock in runs]
        assert all(len(ours) == 6 and ours[-1] != ours[0] for ours, _ in pairs), name
        assert most([agree(*pair) for pair in pairs]), (name, pairs)


def test_install_reaches_all_of_spacy():
    pytest.importorskip("spacy", reason="spacy is not installed")
    undo = install()
    try:
        nlp = pipeline(np.random.default_rng(0))[0]
    finally:
        undo()
    kinds = {type(node.ops) for _, pipe in nlp.pipeline for node in pipe.model.walk()}
    assert kinds == {VarlenOps}
    assert len(nlp("the cat sees a dog in Lima")) == 7
