"""An error names an argument of the function that was called; a flag is True or False.

Each public function is called as its own example calls it, with one argument that is wrong.
"""

import doctest
import importlib
import importlib.util
import inspect
import re
import sys

import numpy as np
import pytest
import varlen as vl
from house import ROOT

MODULES = ["varlen", *(f"varlen.{name}" for name in ("ops", "dims", "tf", "lod", "returnn"))]
if importlib.util.find_spec("thinc"):
    MODULES.append("varlen.thinc")
# Examples of these need other libraries, change what all share, or last long.
LEFT_OUT = re.compile(
    r"torch|thinc\.api|install|set_num_threads|set_current_ops|use_ops|xarray|cupy|spacy|polars|pyarrow|scipy"
)
# A model runs layers, whose errors are about what is given to these.
INNER = re.compile(r"thinc\.Model\.(initialize|predict)\(")


class Call:
    """A public function, and the arguments that its example gives it."""

    def __init__(self, name, function):
        self.name, self.function, self.arguments = name, function, None
        self.signature = inspect.signature(function)

    def call(self, wrong_name, wrong):
        """Call it with another value for one argument."""
        args, kwargs = [], {}
        for name, parameter in self.signature.parameters.items():
            value = wrong if name == wrong_name else self.arguments.get(name, parameter.empty)
            if value is parameter.empty:
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                args += [value] if name == wrong_name else value
            elif parameter.kind is parameter.VAR_KEYWORD:
                kwargs |= {} if name == wrong_name else value
            elif parameter.kind is parameter.KEYWORD_ONLY:
                kwargs[name] = value
            else:
                args.append(value)
        return self.function(*args, **kwargs)


def functions_of(public, path):
    """(name, function or method) of a module."""
    module = public.find(path)
    for name in public.members(path):
        value = getattr(module, name)
        if not inspect.isclass(value):
            yield name, value
            continue
        yield name, vars(value).get("__init__")
        for member in public.members(f"{path}.{name}"):
            method = inspect.getattr_static(value, member)
            yield f"{name}.{member}", getattr(method, "__func__", method)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """The call of each public function that an example makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs/_extensions")
        public = importlib.import_module("public")
        patch.chdir(tmp_path_factory.mktemp("examples"))
        found, texts = {}, {}
        for path in MODULES:
            for name, function in functions_of(public, path):
                bare = inspect.unwrap(function) if callable(function) else function
                if not inspect.isfunction(bare) or bare.__module__.split(".")[0] != "varlen":
                    continue
                found.setdefault(bare.__code__, Call(f"{path}.{name}", function))
                texts.setdefault(inspect.getdoc(function) or "", path)
            for name in public.members(path):
                texts.setdefault(inspect.getdoc(getattr(public.find(path), name)) or "", path)

        def keep(frame, event, _):
            if event == "call" and (one := found.get(frame.f_code)) and one.arguments is None:
                one.arguments = dict(frame.f_locals)

        for text, path in texts.items():
            if ">>>" in text and not LEFT_OUT.search(text):
                names = {**(vars(public.find(path)) if path != "varlen" else {}), "vl": vl, "np": np}
                run(doctest.DocTestParser().get_doctest(text, names, path, None, 0), keep)
        yield [one for one in found.values() if one.arguments is not None]


def run(test, keep):
    """Run an example; one that fails, as some show, ends there."""
    sys.setprofile(keep)
    try:
        for example in test.examples:
            exec(compile(example.source, test.name, "exec"), test.globs)
    except Exception:
        pass
    finally:
        sys.setprofile(None)


def wrong_values():
    numbers = -(10**30), -1, 1, 0.5, float("nan"), None
    containers = [1], [None], [], {}, [[1], [2, 3]], vl.Ragged([1.0], [1]), vl.Dim("other", 7)
    arrays = np.array(1), np.array([1, 2]), np.ones((2, 3, 4)), np.array(["a"]), np.array([None])
    return object(), "nonsense", *numbers, *containers, *arrays


def errors_of(calls, values, chosen=lambda parameter: True):
    """(what was called, its parameters, the error) of each call with one wrong argument that fails."""
    for one in calls:
        for name, parameter in one.signature.parameters.items():
            for value in values() if name not in ("self", "cls") and chosen(parameter) else ():
                try:
                    one.call(name, value)
                except Exception as error:
                    yield f"{one.name}({name}={value!s:.20})", one.signature.parameters, error


def test_an_example_calls_nearly_every_function(calls):
    assert len(calls) > 400


def names_an_argument(what, parameters, error):
    """Whether it is about a parameter, or about the lengths or values that a container has itself."""
    named = getattr(error, "argument", None)
    if not named or INNER.search(what):
        return True
    return re.match(r"\w*", named)[0] in parameters or (
        "self" in parameters and named in ("lengths", "values")
    )


def test_an_error_names_an_argument_of_the_function(calls):
    errors = errors_of(calls, wrong_values)
    wrong = [f"{what}: {error}" for what, names, error in errors if not names_an_argument(what, names, error)]
    assert wrong == []


def test_a_flag_is_true_or_false(calls):
    errors = errors_of(calls, lambda: [np.array([1, 2])], lambda one: one.annotation in ("bool", bool))
    assert [f"{what}: {error!r}" for what, _, error in errors if not hasattr(error, "reason")] == []


# Errors of the caller's own functions stay theirs; those of the system name the path.
OTHERS = re.compile(r"tf\.map_flat_values\(|Dataset\.map\(batched|device: |varlen\.thinc\.")


def test_every_error_is_a_record(calls):
    raw = [(what, error) for what, _, error in errors_of(calls, wrong_values) if not hasattr(error, "reason")]
    wrong = [f"{what}: {error!r}" for what, error in raw if not isinstance(error, (OSError, Warning))]
    assert [text for text in wrong if not OTHERS.search(text)] == []


def test_numbers_are_refused_by_records(calls):
    plain = {"int", "float", "int | None", "float | None", int, float}
    errors = errors_of(calls, wrong_values, lambda one: one.annotation in plain)
    wrong = [(what, error) for what, _, error in errors if not isinstance(error, (OSError, Warning))]
    assert [f"{what}: {error!r}" for what, error in wrong if not hasattr(error, "reason")] == []
