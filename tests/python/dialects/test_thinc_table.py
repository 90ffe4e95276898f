"""The tables of the page for those who come from Thinc: each row is run with all three."""

import importlib.util
import inspect
import re

import numpy as np
import pytest
import varlen
import varlen as vl
from house import ROOT
from thinc_differences import DIFFERENCES, NO
from varlen import thinc

HAS_THINC = importlib.util.find_spec("thinc") is not None
PAGE = (ROOT / "docs/coming/thinc.md").read_text()


def rows(title):
    """The cells of each row of the table under this title."""
    text = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    table = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in cells] for cells in table[2:]]


def codes(cell):
    return re.findall(r"`([^`]+)`", cell)


def seqs():
    return [np.arange(n * 2, dtype="f").reshape(n, 2) for n in (2, 4)]


def names(of, ops, types=None):
    """What the expressions of the tables are made of."""
    types = types or of
    lengths = np.array([2, 4], "i")
    X = np.concatenate(seqs())
    ragged, padded = (types.Ragged, types.Padded) if of is not varlen else (vl.Ragged, vl.Padded)
    return {
        "np": np,
        "vl": varlen,
        "varlen": varlen,
        "of": of,
        "ops": ops,
        "X": X,
        "lengths": lengths,
        "seqs": seqs(),
        "X2": np.tile(X, 2),
        "seqs2": [np.tile(x, 2) for x in seqs()],
        "d": np.array([[1, 2], [3, 4]], "f"),
        "which": np.array([[0, 1], [3, 0]], "i"),
        "r": ragged(X, lengths),
        "p": padded(np.stack([seqs()[1], np.pad(seqs()[0], ((0, 2), (0, 0)))], 1), *fields()),
        "fields": fields(),
        "table": np.arange(8, dtype="f").reshape(4, 2),
        "indices": np.array([[0, 1], [3, 3]], "i"),
        "ids": np.array([3, 1, 4], "u8"),
        "twice": of.Model("twice", lambda model, X, is_train: (X * 2, lambda dY: dY * 2))
        if hasattr(of, "Model")
        else lambda X, is_train: (X * 2, lambda dY: dY * 2),
        **{name: getattr(types, name) for name in ("Ragged", "Padded", "Pairs")},
        **{name: getattr(of, name) for name in dir(of) if of is not varlen and name in thinc.__all__},
    }


def fields():
    return tuple(np.array(x, "i") for x in ([2, 2, 1, 1], [4, 2], [1, 0]))


def plain(x):
    """Containers, arrays and lists as lists, to be compared whatever they were."""
    if hasattr(x, "size_at_t"):
        return [plain(x.data), *(plain(getattr(x, name)) for name in ("size_at_t", "lengths", "indices"))]
    if hasattr(x, "lengths"):
        return [plain(x.data), plain(x.lengths)]
    if hasattr(x, "one"):
        return [plain(x.one), plain(x.two)]
    if isinstance(x, np.ndarray):
        return np.round(x.astype(float), 5).tolist()
    return [plain(item) for item in x] if isinstance(x, (list, tuple)) else x


def of_thinc():
    import thinc.api as api
    import thinc.types

    return names(api, api.NumpyOps(), thinc.types)


def of_ours():
    return names(thinc, thinc.NumpyOps())


def of_own():
    return names(varlen, varlen.ops, varlen)


@pytest.mark.parametrize("row", rows("Names in Thinc and in varlen"), ids=lambda row: row[0])
def test_names_of_the_table_say_the_same(row):
    left, right = codes(row[0]), codes(row[1])
    assert len(left) == len(right) >= 1, "as many expressions on either side"
    for one, other in zip(left, right, strict=True):
        want = plain(eval(one, of_ours()))
        assert want is not None
        assert plain(eval(other, of_own())) == want, (one, other)
        if HAS_THINC:
            assert plain(eval(one, of_thinc())) == want, one


def alone(model):
    """Whether a sequence gives alone what it gives beside a longer one."""
    return bool(np.allclose(model.predict(seqs())[0], model.predict(seqs()[:1])[0], atol=1e-5))


def first_step(ops):
    """Whether the gradient of an LSTM reaches the only row there is."""
    start, x = np.zeros((1, 1, 1), "f"), np.ones((1, 2), "f")
    params, sizes = np.ones(20, "f"), np.array([1], "i")
    Y, state = ops.lstm_forward_training(params, start, start, x, sizes)
    return bool(np.any(ops.backprop_lstm(np.ones_like(Y), sizes, params, state)[0]))


def draws(f):
    """Whether the same state of NumPy's own generator gives the same."""
    found = []
    for _ in range(2):
        np.random.seed(5)  # noqa: NPY002
        found.append(plain(f()))
    return found[0] == found[1]


def copied(model):
    """Whether a copy has the references and the ops of the model."""
    model.ops = type(model.ops)()
    model.set_ref("whole", model)
    made = model.copy()
    return [bool(made.has_ref("whole")), made.ops is model.ops]


def halves(bidirectional, layer, p):
    """Whether a layer gives the same in both directions."""
    Y = bidirectional(layer, layer).predict(p).data
    return bool(np.allclose(Y[..., :1], Y[..., 1:]))


def left(model):
    """The gradient after an optimizer gave another."""
    model.set_grad("b", np.ones(1, "f"))
    model.finish_update(lambda key, weights, gradient: (weights, gradient * 0))
    return model.get_grad("b")


def check(expression, names, want):
    if want is NO or expression is None:
        return
    if "torch" in expression or "Torch" in expression:
        names["torch"] = pytest.importorskip("torch")
    helpers = {
        "alone": alone,
        "first_step": first_step,
        "draws": draws,
        "copied": copied,
        "left": left,
        "halves": halves,
        "thinc": thinc,
    }
    if isinstance(want, type):
        with pytest.raises(want):
            eval(expression, names | helpers)
    else:
        assert plain(eval(expression, names | helpers)) == want, expression


@pytest.mark.parametrize("what", DIFFERENCES)
def test_differences_of_the_table_are_as_it_says(what):
    for expression, own, theirs, ours, want in DIFFERENCES[what]:
        check(expression, of_ours(), ours)
        check(own, of_own(), want)
        if HAS_THINC:
            check(expression, of_thinc(), theirs)


def test_every_row_of_the_differences_is_tried():
    assert [row[0] for row in rows("Differences")] == list(DIFFERENCES)


def signature(value):
    """Without types."""
    found = inspect.signature(value)
    plain = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    if plain and plain[0].name == "self":
        plain = plain[1:]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


@pytest.mark.skipif(not HAS_THINC, reason="thinc is not installed")
def test_signatures_are_thincs_but_for_those_of_the_table():
    from thinc import api, backends, types

    ours, stock = thinc.NumpyOps(), backends.NumpyOps()
    pairs = {f"ops.{n}": (getattr(stock, n), getattr(ours, n)) for n in dir(ours) if hasattr(stock, n)}
    pairs |= {
        n: (getattr(api, n), getattr(thinc, n)) for n in thinc.__all__ if hasattr(api, n) and n != "Ops"
    }
    pairs["Pairs"] = types.Pairs, thinc.Pairs
    methods = [n for n in dir(thinc.Model) if hasattr(api.Model, n)]
    pairs |= {f"Model.{n}": (getattr(api.Model, n), getattr(thinc.Model, n)) for n in methods}
    public = {n: pair for n, pair in pairs.items() if "._" not in n and all(map(callable, pair))}
    assert len(public) > 120
    differ = {}
    for name, (theirs, mine) in public.items():
        if signature(theirs) != signature(mine):
            differ[name] = signature(theirs), signature(mine)
    told = {codes(row[0])[0]: tuple(codes(cell)[0] for cell in row[1:3]) for row in rows("Signatures")}
    assert differ == told


@pytest.mark.skipif(not HAS_THINC, reason="thinc is not installed")
def test_names_that_stay_with_thinc_are_told():
    from thinc import api, backends

    text = PAGE.split("## What varlen leaves to Thinc\n")[1].split("\n## ")[0]
    ops, others = (set(codes(part)) for part in text.split("\n\n")[:2])
    ours = thinc.NumpyOps()
    assert {n for n in dir(backends.Ops) if n[0] != "_" and not hasattr(ours, n)} <= ops
    assert set(api.__all__) - set(thinc.__all__) <= others
    assert not any(hasattr(ours, name) for name in ops)
    assert not others & set(thinc.__all__)
    with pytest.raises(AttributeError, match=r"no attribute 'mish'.*VarlenOps"):
        ours.mish  # noqa: B018
