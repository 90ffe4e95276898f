"""Thinc and spaCy on our ops and on their own: the same models with the same weights, words per second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness import Case, row

# Words per second on stock ops. Multiplying matrices is half of the time or more, and the same on both.
GOAL = 1.10
OPS = {"varlen": "varlen", "NumpyOps": "numpy"}


def _lengths(case: Case, texts: int) -> np.ndarray:
    """Words of each text, 18 on average."""
    return np.maximum(1, np.random.default_rng(0).poisson(18, case.size(texts, 3)))


def _compare(
    case: Case, build: Callable[[], Callable[[], Any]], words: int, needs: str = "thinc", blis: bool = True
) -> None:
    """Both ops on what `build` makes while they are chosen: a call that gives arrays."""
    want: list[np.ndarray] = []

    def close(result: list[np.ndarray]) -> bool:
        want[:] = want or result
        return all(np.allclose(a, b, atol=1e-4) for a, b in zip(result, want, strict=True))

    def contender(name: str) -> None:
        @case.contender(name, needs=needs, show=close)
        def _() -> Any:
            from thinc.api import use_ops
            from varlen.thinc import VarlenOps

            assert VarlenOps.name in OPS

            with use_ops(OPS[name], use_blis=blis):
                call = build()

            def run() -> Any:
                with use_ops(OPS[name], use_blis=blis):
                    return call()

            return run

    case.reference = True
    for name in OPS:
        contender(name)
    case.unit = ("ns a word", words)
    case.goal(
        f">= {GOAL:.2f} of stock ops",
        GOAL,
        lambda times: times.ratio("NumpyOps", "varlen"),
        "x stock",
        at_least=True,
    )


def _tok2vec(width: int = 96, depth: int = 4) -> Any:
    """Layer for layer what spaCy's small pipelines have."""
    from thinc import api

    tables = [api.HashEmbed(width, n, column=k, seed=7 + k) for k, n in enumerate((5000, 1000, 2500, 2500))]
    mix = api.Maxout(width, width * 4, nP=3, normalize=True)
    window = api.chain(api.expand_window(1), api.Maxout(width, width * 3, nP=3, normalize=True))
    return api.chain(
        api.chain(
            api.list2ragged(), api.with_array(api.chain(api.concatenate(*tables), mix)), api.ragged2list()
        ),
        api.with_array(api.clone(api.residual(window), depth), pad=depth),
    )


def _inference(case: Case, texts: int, blis: bool) -> None:
    lengths = _lengths(case, texts)
    rng = np.random.default_rng(1)
    ids = [rng.integers(0, 2**40, (n, 4)).astype("uint64") for n in lengths.tolist()]

    def build() -> Callable[[], Any]:
        from thinc.api import fix_random_seed

        fix_random_seed(0)
        model = _tok2vec()
        model.initialize(ids[:1])
        return lambda: model.predict(ids)

    _compare(case, build, int(lengths.sum()), blis=blis)


for _texts, _blis in ((1, True), (64, True), (1000, True), (64, False)):
    _named = "one text a call" if _texts == 1 else f"{_texts} texts a call"
    _named += "" if _blis else ", both with use_blis=False"
    row(
        f"thinc.tok2vec.{_texts}{'' if _blis else '.numpy'}",
        f"tok2vec inference in Thinc, width 96, {_named}",
    )(lambda case, texts=_texts, blis=_blis: _inference(case, texts, blis))


def _pipeline(texts: list[list[str]]) -> Any:
    """Tagger, parser, entities and categories on one tok2vec, with random weights."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example
    from thinc.api import fix_random_seed

    fix_random_seed(0)
    nlp = spacy.blank("en")
    listen = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    shared = {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 96,
        "depth": 4,
        "embed_size": 2000,
        "window_size": 1,
        "maxout_pieces": 3,
        "subword_features": True,
    }
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": listen,
    }
    tagger = {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": listen}
    reduces = {f"use_reduce_{kind}": True for kind in ("first", "last", "max", "mean")}
    textcat = {"@architectures": "spacy.TextCatReduce.v1", "exclusive_classes": True, **reduces}
    textcat |= {"nO": None, "tok2vec": listen}
    nlp.add_pipe("tok2vec", config={"model": shared})
    nlp.add_pipe("tagger", config={"model": tagger})
    nlp.add_pipe("parser", config={"model": {**parser, "state_type": "parser"}})
    nlp.add_pipe("ner", config={"model": {**parser, "state_type": "ner"}})
    nlp.add_pipe("textcat", config={"model": textcat})
    truth = {
        "tags": ["A", "B", "A"],
        "heads": [1, 1, 1],
        "deps": ["x", "ROOT", "y"],
        "entities": ["O", "U-P", "O"],
        "cats": {"YES": 1.0, "NO": 0.0},
    }
    one = Example.from_dict(Doc(nlp.vocab, words=["w1", "w2", "w3"]), truth)
    nlp.initialize(lambda: [one] * 3)

    def run() -> list[np.ndarray]:
        docs = nlp.pipe([Doc(nlp.vocab, words=words) for words in texts], batch_size=256)
        return [np.asarray(doc.tensor) for doc in docs]

    return run


@row("thinc.spacy", "spaCy pipeline: tok2vec, tagger, parser, ner, textcat; 300 texts")
def _(case: Case) -> None:
    lengths = _lengths(case, 300)
    rng = np.random.default_rng(2)
    texts = [[f"w{k}" for k in rng.zipf(1.3, n) % 5000] for n in lengths.tolist()]
    _compare(case, lambda: _pipeline(texts), int(lengths.sum()), needs="spacy")
