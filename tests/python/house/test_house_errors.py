"""The laws of errors: they are records, and nobody edits or reads the text of one of ours."""

import ast

import pytest
from house import PACKAGE, sources

OURS = {"ValueError", "TypeError", "IndexError", "OverflowError", "KeyError", "Exception", "BaseException"}
OURS |= {"RuntimeError", "FileFormatError", "StaleFileError", "LengthMismatchError", "UnknownWord", "Failed"}

# Where the text of an error of others, NumPy's, Arrow's, JSON's or the caller's own, is told whole.
WHOLE = {
    "backends/numpy/rows.py": "NumPy's",
    "backends/torch/memory.py": "torch's",
    "cli/__init__.py": "the last line of a command",
    "cli/conversion/tables.py": "Arrow's",
    "cli/errors.py": "the last line of a command",
    "data/loops/report.py": "the caller's loop's",
    "data/loops/trial.py": "the caller's loop's",
    "dims/table.py": "JSON's",
    "errors.py": "where the text is made",
    "interop/arrow.py": "Arrow's",
    "interop/arrow_columns.py": "Arrow's",
    "interop/arrow_parts.py": "Arrow's",
    "io/account.py": "JSON's",
    "io/arrow_rows.py": "Arrow's",
    "io/building/engines.py": "the caller's and pickle's",
    "io/building/origin.py": "pickle's",
    "io/columns.py": "the library's that made the tensor",
    "io/schema.py": "JSON's",
    "thinc/arrays.py": "NumPy's",
}


def reads_text(node, name):
    """Whether code makes a text of the error, or looks at its arguments."""

    def is_it(each):
        return isinstance(each, ast.Name) and each.id == name

    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
        return any(map(is_it, node.args))
    if isinstance(node, ast.FormattedValue):
        return is_it(node.value)
    return isinstance(node, ast.Attribute) and node.attr == "args" and is_it(node.value)


def texts_read(tree):
    """The lines where the text of an error is read that may be one of ours."""
    for handler in ast.walk(tree):
        if isinstance(handler, ast.ExceptHandler) and handler.name:
            kinds = {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)}
            if kinds & OURS:
                yield from (n.lineno for n in ast.walk(handler) if reads_text(n, handler.name))


# Checks of users' own code tell what failed there.
MODULES = [path for path in sources(PACKAGE, "*.py") if PACKAGE / "testing" not in path.parents]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nobody_reads_the_text_of_an_error(path):
    name = path.relative_to(PACKAGE).as_posix()
    found = list(texts_read(ast.parse(path.read_text())))
    assert bool(found) <= (name in WHOLE), f"{name}: lines {found}"


PLAIN = {"ValueError", "TypeError", "IndexError", "OverflowError"}


def plain_errors(tree):
    """The lines that make an error with a text by hand; one without a text is for the caller in the house."""
    for node in ast.walk(tree):
        is_plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PLAIN
        if is_plain and node.args and not (isinstance(node.args[0], ast.Constant) and not node.args[0].value):
            yield node.lineno


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_errors_are_made_as_records(path):
    assert not list(plain_errors(ast.parse(path.read_text())))


def test_the_law_sees_an_error_that_is_no_record():
    assert list(plain_errors(ast.parse("raise ValueError(f'x: {y}')"))) == [1]
    assert not list(plain_errors(ast.parse("raise value_error('x', f'{y}')\nraise ValueError")))


@pytest.mark.parametrize("text", ["str(e)", 'f"{e}"', "e.args[0]", 're.sub("x", "", str(e))'])
def test_the_law_sees_a_text_that_is_read(text):
    code = f"try:\n    f()\nexcept (OSError, ValueError) as e:\n    g({text})\n"
    assert list(texts_read(ast.parse(code))) == [4]
    assert not list(texts_read(ast.parse(code.replace("ValueError", "ImportError"))))
