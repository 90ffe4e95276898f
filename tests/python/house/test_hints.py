"""Names of other libraries: reading one names what to use here, and nothing else notices."""

import copy
import importlib
import pickle

import numpy as np
import pytest
import varlen as vl
from varlen import _hints
from varlen.types.torch_table import TENSOR_METHODS

Joint = vl.JointNestedRaggedTensorDict
THINGS = {
    "Ragged": (lambda: vl.Ragged([1, 2, 3], [2, 1]), _hints.RAGGED),
    "JointNestedRaggedTensorDict": (lambda: Joint({"a": [1, 2]}), _hints.JOINT),
    "Padded": (lambda: vl.Padded.from_list([[1], [2, 3]]), _hints.BLOCK),
    "Packed": (lambda: vl.Ragged([1, 2, 3], [2, 1]).pack(), _hints.PACKED),
    "Data": (lambda: vl.Data(np.array([1, 2]), [vl.dims.batch_dim]), _hints.BLOCK),
    "Batch": (lambda: vl.data.Batch(a=np.arange(2), b=np.arange(2)), _hints.BATCH),
    "Dataset": (lambda: vl.data.Dataset(Joint({"a": [1, 2]})), _hints.DATASET),
}
NAMES = [(kind, name) for kind, (_, ways) in THINGS.items() for name in ways]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_a_name_of_another_library_names_the_way(kind, name):
    make, ways = THINGS[kind]
    thing = make()
    for owner in (thing, type(thing)):
        with pytest.raises(AttributeError, match=f"^'{kind}' object .* '{name}'; use ") as caught:
            getattr(owner, name)
        assert (caught.value.name, str(caught.value).endswith(ways[name])) == (name, True)
    assert not hasattr(thing, name)
    assert name not in dir(thing)


@pytest.mark.parametrize("kind", THINGS)
def test_a_way_exists(kind):
    """Each `.name` in a hint is an attribute of the class."""
    make, ways = THINGS[kind]
    thing = make()
    for way in ways.values():
        for word in way.replace(",", " ").split():
            if word.startswith("."):
                assert hasattr(thing, word[1:].partition("(")[0].partition(".")[0]), way


@pytest.mark.parametrize("kind", THINGS)
def test_hints_change_neither_copies_nor_own_attributes(kind):
    make, ways = THINGS[kind]
    thing = make()
    assert repr(pickle.loads(pickle.dumps(thing))) == repr(copy.deepcopy(thing)) == repr(thing)
    name = next(iter(ways))
    own = type("Own", (type(thing),), {name: 7})
    assert getattr(own, name) == 7


def test_a_name_that_nobody_has_gets_no_hint():
    with pytest.raises(AttributeError, match=r"no attribute 'zz'$"):
        _ = vl.Ragged([1], [1]).zz


def test_functions_that_hints_name_exist():
    pytest.importorskip("torch")
    r = vl.Ragged([1.0, 2.0, 3.0], [2, 1])
    for name in sorted(TENSOR_METHODS):
        if hasattr(r, name) or name in _hints.RAGGED:
            continue
        with pytest.raises(AttributeError) as caught:
            getattr(r, name)
        module, _, function = str(caught.value).split("use ")[1].partition("(")[0].rpartition(".")
        assert hasattr(importlib.import_module(module), function), caught.value
