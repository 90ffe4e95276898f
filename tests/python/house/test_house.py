"""The laws of the house: what may import what, what is public and documented, what stands at the top."""

import importlib.metadata
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import house
import pytest
import varlen
from house import PACKAGE, ROOT, short, sources
from varlen import _core

ROOMS_AT_THE_TOP = ["benchmarks", "cpp", "docs", "python", "tests"]

# From the ground up: a floor may import itself and those below it. `testing` may import all, and nothing
# imports it; what stands on no floor is the package's own page and tools that all may use.
FLOORS = [
    {"levels", "tracing", "arguments", "errors", "cuda", "_core", "_cuda", "_hooks", "_lazy"}
    | {"_threads", "_hints", "_restored", "_methods", "_watch", "_pytrees"},
    {"backends", "interop", "display"},
    {"ops"},
    {"types"},
    {"sequence", "transforms", "dims", "io"},
    {"joint"},
    {"data"},
    {"cli", "thinc", "lod", "tf", "returnn", "plot"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
GRAPH = house.import_graph()


def room_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


ON_FLOORS = [name for name in GRAPH if room_of(name) not in (None, "testing")]


def test_arrows_point_down():
    """Imports inside functions count."""
    for module in ON_FLOORS:
        room = room_of(module)
        assert room in FLOOR or room == "__main__", f"{module} stands on no floor"
        for other in GRAPH[module]:
            below = room_of(other)
            assert below not in (None, "testing"), f"{module} imports {other}"
            fits = FLOOR.get(below, -1) <= FLOOR.get(room, len(FLOORS))
            assert fits, f"{module} imports {other}, a floor above"


ANNOTATED = house.import_graph(in_annotations=True)


def test_arrows_of_annotations_point_up_by_one_floor_at_most():
    """Generics need the floor above: a verb says that it gives the container that it was given."""
    for module in ON_FLOORS:
        floor = FLOOR.get(room_of(module), len(FLOORS))
        for other in ANNOTATED[module]:
            above = room_of(other)
            fits = above is not None and FLOOR.get(above, len(FLOORS)) <= floor + 1
            assert fits, f"{module} has annotations of {other}, more than a floor above"


def test_modules_import_each_other_in_no_circle():
    assert house.circles(GRAPH) == []


def test_import_loads_numpy_and_the_core_only():
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import varlen\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    heavy = {"argparse", "asyncio", "concurrent", "ctypes", "doctest", "html", "http", "json", "logging"}
    heavy |= {"mmap", "multiprocessing", "queue", "socket", "subprocess", "tempfile", "unittest", "urllib"}
    for name in house.in_python(code)[0].split():
        top = name.split(".")[0]
        assert top == "varlen" or top in sys.stdlib_module_names, f"import varlen loads {name}"
        assert top not in heavy, f"import varlen loads {name}"


def test_what_modules_give_each_other_is_documented():
    for name, value in house.public():
        assert inspect.getdoc(value), f"{name} has no docstring"
        for key in house.methods_of(value):
            assert inspect.getdoc(getattr(value, key)), f"{name}.{key} has no docstring"


def test_public_list_is_whole():
    for name in varlen.__all__:
        assert getattr(varlen, name) is not None
    assert set(varlen.__all__) <= set(dir(varlen))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        varlen.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("package", "name", "ways"),
    [
        ("varlen", "pad", "varlen.ops.pad or varlen.dims.pad"),
        ("varlen", "pad_sequence", "varlen.ops.pad or varlen.dims.pad"),
        ("varlen", "from_list", "varlen.Ragged.from_list or varlen.Data.from_list"),
        ("varlen", "Writer", "varlen.io.Writer"),
        ("varlen.ops", "sum", "varlen.ops.reduce_sum or varlen.Ragged.sum or varlen.Data.sum"),
        (
            "varlen.ops",
            "cat",
            "varlen.ops.concatenate or varlen.concatenate or varlen.transforms.concatenate",
        ),
        ("varlen.data", "DataLoader", "varlen.data.Loader"),
        ("varlen.dims", "flip", "varlen.dims.reverse or varlen.ops.reverse or varlen.Ragged.reverse"),
        ("varlen.io", "open", "varlen.data.open"),
        ("varlen.sequence", "nonsense", ""),
        ("varlen.io", "_private", ""),
    ],
)
def test_a_package_says_where_else_a_name_is(package, name, ways):
    with pytest.raises(AttributeError) as raised:
        getattr(importlib.import_module(package), name)
    text = f"module {package!r} has no attribute {name!r}"
    assert str(raised.value) == (f"{text}; see {ways}" if ways else text)
    assert raised.value.name == name


def test_version_is_told_once():
    written = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)[1]
    assert written == varlen.__version__ == _core.__version__
    if Path(varlen.__file__).parent != PACKAGE:  # an in-tree build has no metadata
        assert written == importlib.metadata.version("varlen")


def test_stub_names_what_the_core_has():
    stub = house.stub_names((PACKAGE / "_core.pyi").read_text())
    assert list(stub) == sorted(stub, key=lambda name: (name != "__version__", stub[name] is None, name)), (
        "order"
    )
    public = {name for name in vars(_core) if not name.startswith("_")} | {"__version__"}
    assert set(stub) == public
    for name, members in stub.items():
        if members is None:
            continue
        runtime = {key for key in vars(getattr(_core, name)) if not key.startswith("_")}
        assert {key for key in members if not key.startswith("_")} == runtime, name


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("nm") is None, reason="needs nm, on Linux")
def test_extension_exports_its_init_only():
    done = subprocess.run(
        ["nm", "-D", "--defined-only", _core.__file__], capture_output=True, text=True, timeout=60, check=True
    )
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["PyInit__core"]


# Of how the project is made, of what is not done yet, and of tastes.
FORBIDDEN = re.compile(
    r"/(wor)k/|/(roo)t/|\b(TO)DO\b|\b(FIX)ME\b|\b(XX)X\b|\b(issue) #?\d|\b(this) session\b",
    flags=re.IGNORECASE,
)
TEXTS = ("*.py", "*.pyi", "*.?pp", "*.inc", "*.cu", "*.cuh", "*.md", "*.toml", "*.txt", "*.cmake", "*.ipynb")
TEXTS += ("*.rst", "*.css", "*.svg")


def test_texts_speak_of_the_project_alone():
    paths = [path for folder in ROOMS_AT_THE_TOP for path in sources(ROOT / folder, *TEXTS)]
    paths += [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for path in paths:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert not FORBIDDEN.search(line), f"{short(path)}:{number}: {line.strip()}"


def test_top_level_holds_its_rooms_only():
    allowed = {*ROOMS_AT_THE_TOP, "pyproject.toml", "CMakeLists.txt", "CMakePresets.json", "setup.cfg"}
    allowed |= {"README.md", "LICENSE"}
    listed = shutil.which("git") and subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    if not listed or listed.returncode != 0:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= allowed


@pytest.mark.parametrize("room", ROOMS_AT_THE_TOP)
def test_rooms_have_a_page_of_explanation(room):
    assert 0 < len((ROOT / room / "README.md").read_text().splitlines()) <= 60
