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
    declaration = '''
MIDRANGE = _fold(
    "midrange",
    "None",
    summary="Halfway between the largest and the smallest number of each sequence.",
    returns="(n, ...) floats.",
    method_returns="Floats.",
    example="""
    >>> vl.ops.reduce_midrange([3.0, 1.0, 4.0], [2, 1])
    array([2., 4.])
    """,
    method_example="""
    >>> vl.Ragged([3.0, 1.0, 4.0], [2, 1]).midrange()
    array([2., 4.])
    """,
    data=DataMethod("Halfway between the extremes", "None", "array([2., 5.])"),
    by="composed",
)
VERBS += (MIDRANGE,)
'''
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
    assert {*PAGES, "python/varlen/types/declared.py", "python/varlen/dims/declared.py"} <= set(
        written.split()
    )
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
