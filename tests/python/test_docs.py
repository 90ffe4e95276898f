"""The examples of the documentation run: docstrings of the package and of the core, and README.md."""

import doctest
import importlib
import inspect

import house
import numpy
import pytest
import varlen

# An example of these says nothing where they are not installed.
OPTIONAL = {"ml_dtypes", "pyarrow", "torch"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(tests):
    """Fail with the whole report of the first example that says something else."""
    runner = doctest.DebugRunner(optionflags=FLAGS, verbose=False)
    count = 0
    for test in tests:
        try:
            runner.run(test, clear_globs=False)
        except doctest.DocTestFailure as failure:
            where = f"{failure.test.name}, line {failure.example.lineno + 1}"
            pytest.fail(
                f"{where}\n{failure.example.source}want: {failure.example.want}got:  {failure.got}",
                pytrace=False,
            )
        except doctest.UnexpectedException as failure:
            error = failure.exc_info[1]
            if isinstance(error, ModuleNotFoundError) and error.name in OPTIONAL:
                pytest.skip(f"{error.name} is not installed")
            where = f"{failure.test.name}, line {failure.example.lineno + 1}"
            pytest.fail(f"{where}\n{failure.example.source}{error!r}", pytrace=False)
        count += len(test.examples)
    return count


def names():
    return {"varlen": varlen, "vl": varlen, "np": numpy}


@pytest.mark.parametrize("name", house.module_names())
def test_examples_of_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    globs = vars(module) | names()
    run(doctest.DocTestFinder(exclude_empty=True).find(module, name, globs=globs))


def test_examples_of_the_core(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestParser()
    for key, value in vars(varlen._core).items():
        members = vars(value).items() if inspect.isclass(value) else ()
        for name, item in [(key, value), *((f"{key}.{k}", v) for k, v in members)]:
            text = getattr(item, "__doc__", None)
            if isinstance(text, str) and ">>>" in text:
                run([finder.get_doctest(inspect.cleandoc(text), names(), name, None, 0)])


def test_examples_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (house.ROOT / "README.md").read_text().replace("\n```\n", "\n\n```\n")
    assert run([doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)]) > 0
