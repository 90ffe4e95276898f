"""What Python says of a call that does not fit names the public function that was called."""

import importlib
import inspect
import pickle
import re

import numpy as np
import pytest
import varlen as vl
from house import ROOT

pytest.importorskip("thinc", reason="thinc is not installed, and its dialect is public")


@pytest.fixture(scope="module")
def public():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs/_extensions")
        yield importlib.import_module("public")


@pytest.fixture(scope="module")
def classes(public):
    """Public classes by name."""
    members = ((home, name) for home in public.modules() for name in public.members(home))
    found = {f"{home}.{name}": getattr(public.find(home), name) for home, name in members}
    return {path: value for path, value in found.items() if inspect.isclass(value)}


def functions_of(kind):
    """(name, function) of what varlen has written in Python for a class, operators and constructors too."""
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        value = getattr(value, "__func__", value)
        if inspect.isfunction(value) and value.__module__.split(".")[0] == "varlen":
            yield name, value


def test_methods_have_the_name_of_a_public_class(classes):
    wrong = []
    for path, kind in classes.items():
        names = tuple(f"{base.__qualname__}." for base in kind.__mro__ if base in classes.values())
        wrong += [
            f"{path}.{name} is {function.__qualname__}"
            for name, function in functions_of(kind)
            if not function.__qualname__.startswith(names)
        ]
    assert wrong == []


def test_an_unknown_keyword_names_the_public_class(classes):
    called = 0
    for kind in classes.values():
        for _, function in functions_of(kind):
            code = function.__code__
            if code.co_flags & inspect.CO_VARKEYWORDS:
                continue
            said = rf"^{re.escape(function.__qualname__)}\(\) got an unexpected keyword argument 'zz'"
            with pytest.raises(TypeError, match=said):
                function(*[None] * code.co_argcount, zz=1)
            called += 1
    assert called > 1000


def test_methods_are_pickled_by_the_name_that_they_have():
    r = vl.Ragged([3, 1, 4], [2, 1])
    for method in (vl.Ragged.sum, vl.Ragged.from_list, vl.Padded.to, vl.Data.sum, vl.Dataset.batch):
        assert pickle.loads(pickle.dumps(method)) == method
    assert pickle.loads(pickle.dumps(r.sum))().tolist() == [4, 4]


def test_users_classes_inherit_methods_that_they_do_not_write():
    class Doubled(vl.Ragged):
        def sum(self, **options):
            return super().sum(**options) * 2

    r = Doubled([3, 1, 4], [2, 1])
    assert r.sum().tolist() == [8, 8]
    assert np.array_equal(r.mean(), [2, 4])
    assert "mean" not in vars(Doubled)


def test_defaults_can_be_read(public, classes):
    """`help` shows an address for what has no text of its own."""
    functions = [function for kind in classes.values() for _, function in functions_of(kind)]
    for home in public.modules():
        functions += [
            each
            for name in public.members(home)
            if inspect.isroutine(each := getattr(public.find(home), name))
        ]
    shown = []
    for function in functions:
        if inspect.isfunction(inspect.unwrap(function)):
            shown += [repr(each.default) for each in inspect.signature(function).parameters.values()]
    assert len(shown) > 3000
    assert [text for text in shown if " at 0x" in text] == []
    assert str(inspect.signature(vl.Data.sum).parameters["empty"]) == "empty: 'Any' = <no value>"
