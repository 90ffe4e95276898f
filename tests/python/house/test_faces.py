"""What is written from the declarations of `python/faces`, and the way to a verb of one's own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from house import PACKAGE, ROOT
from varlen import _core

FACES = ROOT / "python/faces"
PAGES = [
    "docs/concepts/levels.md",
    "docs/guides/torch.md",
    "docs/reference/ops_compute.rst",
    "docs/reference/ragged_verbs.rst",
]

DECLARATION = '''VERB = _fold(
    "{name}",
    "None",
    summary="What comes of the extremes of each sequence.",
    returns="(n, ...) floats.",
    method_returns="Floats.",
    example="""
    >>> vl.ops.reduce_{name}([3.0, 1.0, 4.0], [2, 1])
    array([{gives}])
    """,
    method_example="""
    >>> vl.Ragged([3.0, 1.0, 4.0], [2, 1]).{name}()
    array([{gives}])
    """,
    data=DataMethod("What comes of the extremes", "None", "array([{gives}])"),
    by="{by}",
)
VERBS += (VERB,)
'''


def run(*command, **environment):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_files_are_what_their_declarations_say():
    assert run(FACES, "--check") == (0, "")


@pytest.fixture
def clone(tmp_path):
    """The files that the guide speaks of, and a package that runs."""
    skipped = shutil.ignore_patterns("__pycache__", "*.so")
    for folder in ("python/faces", "python/varlen"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skipped)
    for page in PAGES:
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / page, tmp_path / page)
    core = Path(_core.__file__)
    (tmp_path / "python/varlen" / core.name).symlink_to(core)
    return tmp_path


def test_a_declaration_and_a_function_make_a_verb(clone):
    """As python/README.md has it: `midrange`, halfway between the largest and the smallest number."""
    declaration = DECLARATION.format(name="midrange", by="composed", gives="2., 4.")
    function = '''

def midrange(backend: Any, values: Any, level: Level, empty: Any) -> Any:
    """Halfway between the largest and the smallest number."""
    extremes = [backend.reduce(op, values, level, empty) for op in ("max", "min")]
    return backend.ufunc("multiply", [backend.ufunc("add", extremes, {}), 0.5], {})
'''
    with (clone / "python/faces/reduce.py").open("a") as file:
        file.write(declaration)
    with (clone / "python/varlen/ops/compositions.py").open("a") as file:
        file.write(function)
    assert run(clone / "python/faces", "--check")[0] == 1
    code, written = run(clone / "python/faces")
    assert code == 0
    assert {*PAGES, "python/varlen/types/faces.py", "python/varlen/dims/faces.py"} <= set(written.split())
    assert run(clone / "python/faces", "--check") == (0, "")
    for page in PAGES:
        assert "midrange" in (clone / page).read_text()
    used = (
        "import numpy as np, varlen as vl\n"
        "r = vl.Ragged([3.0, 1.0, 4.0], [2, 1])\n"
        "time = vl.Dim('time', lengths=[2, 1])\n"
        "x = vl.Data(r.values, [vl.dims.batch_dim, time])\n"
        "out = np.zeros(2)\n"
        "assert vl.ops.reduce_midrange(r, out=out) is out\n"
        "print(r.midrange(), r.midrange(axis=0), out, x.midrange(time).values)\n"
        "print(vl.Ragged([2.0], [0, 1]).midrange(empty=7), vl.ops.midrange if 0 else 'midrange' in dir(r))\n"
    )
    code, said = run("-c", used, PYTHONPATH=str(clone / "python"))
    assert (code, said) == (0, "[2. 4.] [3.5 1. ] [2. 4.] [2. 4.]\n[7. 2.] True\n"), said
    assert PACKAGE not in clone.parents


def test_a_verb_of_the_table_a_function_for_each_backend_and_a_declaration_make_a_verb(clone):
    """As python/README.md has it for a verb with a kernel: `spread`, whose kernel is NumPy and torch here."""
    package = clone / "python/varlen"
    meaning = '''class Backend(Protocol):
    """A module with these functions; the arguments are checked as the core checks them."""

    def spread(self, values: Array, level: Level, empty: Numbers) -> Array:
        """(n, ...): the largest number less the smallest."""
'''
    table = package / "backends/table.py"
    head, docstring, rest = table.read_text().partition('core checks them."""\n')
    table.write_text(head.rpartition("class Backend")[0] + meaning + rest)
    for library in ("numpy", "torch"):
        with (package / "backends" / library / "reduce.py").open("a") as file:
            file.write(
                "\n\ndef spread(values: Any, level: Level, empty: Any) -> Any:\n"
                "    return reduce('max', values, level, empty) - reduce('min', values, level, empty)\n"
            )
    with (clone / "python/faces/reduce.py").open("a") as file:
        file.write(DECLARATION.format(name="spread", by="spread", gives="3.0, 0.0"))
    assert docstring
    assert run(clone / "python/faces")[0] == 0
    used = (
        "import varlen as vl\n"
        "from varlen.backends import arrays\n"
        "r = vl.Ragged([3.0, 1.0, 4.0], [2, 1])\n"
        "print(arrays.spread.__module__, r.spread(), vl.ops.reduce_spread(r, axis=0))\n"
    )
    code, said = run("-c", used, PYTHONPATH=str(clone / "python"))
    assert (code, said) == (0, "varlen.backends.numpy.reduce [2. 0.] [1. 0.]\n"), said


WRONG = {
    "a verb that is not listed": (
        DECLARATION.format(name="midrange", by="composed", gives="2., 4.").replace("VERBS +=", "OTHERS ="),
        "midrange: VERB is not in VERBS of faces/reduce.py",
    ),
    "a composed verb without a function": (
        DECLARATION.format(name="midrange", by="composed", gives="2., 4."),
        "midrange: by='composed', but ops/compositions.py has none of that name",
    ),
    "a verb that no backend has": (
        DECLARATION.format(name="midrange", by="halfway", gives="2., 4."),
        "midrange: by='halfway' is no verb of backends/table.py, nor 'composed'; "
        "python/README.md says under 'With a kernel' what to write",
    ),
    "a summary that is too long": (
        DECLARATION.format(name="ptp2", by="reduce", gives="2., 4.").replace("What comes", "What comes " * 9),
        "shorten `summary` or `method_summary`",
    ),
}


@pytest.mark.parametrize(("declaration", "message"), WRONG.values(), ids=WRONG)
def test_a_declaration_that_lacks_something_is_refused_before_anything_is_written(
    clone, declaration, message
):
    with (clone / "python/faces/reduce.py").open("a") as file:
        file.write(declaration)
    code, error = run(clone / "python/faces")
    assert code == 1
    assert error.startswith("python/faces: ")
    assert error.strip().endswith(message)


def test_a_verb_of_the_table_that_a_backend_lacks_is_refused(clone):
    table = clone / "python/varlen/backends/table.py"
    table.write_text(
        table.read_text().replace(
            'core checks them."""\n',
            'core checks them."""\n\n    def spread(self, values: Array) -> Array:\n        """(n,)."""\n',
        )
    )
    for library, text in {
        "numpy": "no module of backends/numpy/ has a function spread, nor has _core.pyi",
        "torch": "no module of backends/torch/ has a function spread",
    }.items():
        assert run(clone / "python/faces") == (1, f"python/faces: {text}\n")
        with (clone / "python/varlen/backends" / library / "reduce.py").open("a") as file:
            file.write("\n\ndef spread(values: Any) -> Any:\n    return values\n")
    assert run(clone / "python/faces")[0] == 0
