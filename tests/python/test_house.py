"""The laws of the house: what may know what, what stands in which room, how large a file may be."""

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
from house import BINDINGS, CPU, CUDA, INCLUDE, PACKAGE, ROOT, TESTS, code_of, includes_of, short, sources
from varlen import _core

# The nouns, and the rooms that each is in. What is not listed is a tool of its room.
ROOMS = {
    "batch": "include cpu bindings",
    "cast": "include cpu bindings tests",
    "checked": "include",
    "concat": "include cpu bindings tests cpp-tests",
    "copy": "include",
    "erase": "include cpu bindings cpp-tests",
    "expand": "include cpu bindings cpp-tests",
    "file": "include cpu bindings",
    "gather": "include cpu bindings tests cpp-tests",
    "hash": "include cpu bindings tests",
    "header": "include cpu bindings fuzz",
    "joint": "include cpu bindings",
    "layout": "include cpu",
    "level": "bindings",
    "lists": "bindings tests",
    "lstm": "include cpu bindings tests",
    "mask": "include cpu bindings tests cpp-tests",
    "maxout": "include cpu bindings cpp-tests",
    "numbers": "include cpu",
    "offsets": "include cpu cpp-tests fuzz",
    "pack": "include cpu bindings tests cpp-tests",
    "pad": "include cpu bindings tests cpp-tests",
    "pieces": "include cpu",
    "pool": "include cpu bindings tests cpp-tests",
    "ragged": "bindings tests",
    "reduce": "include cpu bindings tests cpp-tests",
    "scan": "include cpu bindings tests cpp-tests",
    "scatter": "include cpu bindings tests cpp-tests",
    "shift": "include cpu bindings tests cpp-tests",
    "softmax": "include cpu bindings tests cpp-tests",
    "sort": "include cpu bindings tests cpp-tests",
    "span": "include cpu bindings tests cpp-tests",
    "status": "include",
    "views": "include",
    "window": "include cpu bindings tests cpp-tests",
}
# The pool starts threads, so it allocates; a thread that cannot be started is an exception, caught at once.
MAY_ALLOCATE = {"pool", "cores"}

ROOMS_AT_THE_TOP = ["benchmarks", "cpp", "python", "tests"]

KERNEL_LINES = 250
BINDING_LINES = 200
PYTHON_LINES = 400


def nouns_in(folder, pattern, prefix=""):
    return {path.stem.removeprefix(prefix).split("_")[0] for path in sources(folder, pattern)}


def nouns_of_rooms():
    return {
        "include": nouns_in(INCLUDE, "*.hpp"),
        "cpu": nouns_in(CPU, "*.cpp"),
        "bindings": nouns_in(BINDINGS, "*.cpp"),
        "tests": nouns_in(TESTS / "python", "test_*.py", "test_"),
        "cpp-tests": nouns_in(TESTS / "cpp", "*_test.cpp"),
        "fuzz": nouns_in(TESTS / "fuzz", "*_fuzz.cpp"),
    }


@pytest.mark.parametrize("noun", ROOMS)
def test_nouns_stand_in_their_rooms(noun):
    rooms = nouns_of_rooms()
    missing = [room for room in ROOMS[noun].split() if noun not in rooms[room]]
    assert not missing, f"{noun} is missing in {missing}"


def test_sources_have_a_header_of_their_name():
    for path in sources(CPU, "*.cpp"):
        headers = {
            INCLUDE / f"{house.noun(path)}.hpp",
            path.with_suffix(".hpp"),
            INCLUDE / f"{path.stem}.hpp",
        }
        assert any(header.exists() for header in headers), f"{short(path)} has no header"


def test_types_have_names_of_their_own():
    """Outside unnamed namespaces the linker keeps one destructor for two types of one name."""
    homes = {}
    for path in sources(INCLUDE, "*.hpp") + sources(CPU, "*.?pp") + sources(BINDINGS, "*.?pp"):
        unnamed = r"^namespace \{$.*?^\}  // namespace$"
        shared = re.sub(unnamed, "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        space = re.findall(r"^namespace ([\w:]+) \{", shared, flags=re.MULTILINE)[:1]
        for name in re.findall(r"^(?:struct|class|union) (\w+)[^;{]*\{", shared, flags=re.MULTILINE):
            homes.setdefault((*space, name), []).append(short(path))
    assert len(homes) > 50
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_bindings_are_declared_called_and_written():
    declared = re.findall(r"void bind_(\w+)\(", (BINDINGS / "rooms.hpp").read_text())
    called = re.findall(r"\bbind_(\w+)\(m\)", (BINDINGS / "module.cpp").read_text())
    assert declared == sorted(declared)
    assert sorted(called) == declared
    assert {name.split("_")[0] for name in declared} <= nouns_in(BINDINGS, "*.cpp")


@pytest.mark.parametrize("path", sources(INCLUDE, "*.hpp") + sources(CPU, "*.?pp"), ids=short)
def test_kernels_include_std_and_headers_only(path):
    for name in includes_of(path):
        own = re.fullmatch(r'"varlen/\w+\.hpp"', name) or (
            CPU in path.parents and re.fullmatch(r'"\w+\.(hpp|inc)"', name)
        )
        std = re.fullmatch(r"<\w+>|<(sys/)?\w+\.h>", name) and "Python" not in name
        assert own or std, f"{short(path)} includes {name}"


@pytest.mark.parametrize("path", sources(INCLUDE, "*.hpp") + sources(CPU, "*.?pp"), ids=short)
def test_kernels_know_no_python_and_do_not_throw(path):
    code = code_of(path)
    for word in (
        r"\bPy[A-Z_]\w*",
        r"\bpybind11\b",
        r"\bthrow\b",
        r"\busing namespace std\b",
        r"\bassert\s*\(",
    ):
        assert not re.search(word, code), f"{short(path)} says {word}"
    if house.noun(path) not in MAY_ALLOCATE:
        for word in (r"\bnew\b", r"\bmalloc\b", r"\bstd::(vector|string|map|set|function)\b", r"\btry\b"):
            assert not re.search(word, code), f"{short(path)} says {word}"


@pytest.mark.parametrize("path", sources(BINDINGS, "*.?pp"), ids=short)
def test_bindings_use_headers_not_sources(path):
    for name in includes_of(path):
        assert "src/" not in name, f"{short(path)} includes {name}"


def test_cuda_is_known_in_its_room_only():
    for folder in (INCLUDE, CPU, BINDINGS):
        for path in sources(folder, "*.?pp"):
            assert not [name for name in includes_of(path) if "cuda" in name.lower()], short(path)
    for path in sources(CUDA, "*.cu", "*.cuh"):
        assert not [name for name in includes_of(path) if "pybind11" in name or "Python" in name], short(path)


# A room may import itself and those above it in this list; `testing` may import all, and nothing imports it.
ORDER = [
    {"_core", "_cuda"},
    {"_lazy", "_threads", "cuda", "errors", "arguments"},
    {"levels"},
    {"backends"},
    {"interop", "display"},
    {"ops"},
    {"types"},
    {"transforms", "sequence", "dims"},
    {"io"},
    {"joint"},
    {"data"},
    {"thinc", "lod", "tf", "returnn"},
    {"cli", "plot"},
    {"__main__", "testing"},
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}


def room_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


@pytest.mark.parametrize("path", sources(PACKAGE, "*.py"), ids=short)
def test_rooms_import_in_one_direction(path):
    room = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if room == "__init__":
        return
    assert room in RANK, f"{short(path)} stands in a room that has no place in the order"
    for name in house.imports_of(path):
        other = room_of(name) if name.split(".")[0] == "varlen" else None
        if other in RANK and other != room:
            assert RANK[other] < RANK[room], f"{short(path)} imports {name}"


def budget(path):
    if path.suffix == ".py":
        return PYTHON_LINES
    return BINDING_LINES if BINDINGS in path.parents else KERNEL_LINES


def test_files_fit_in_the_head():
    for room in ROOMS_AT_THE_TOP:
        for path in sources(ROOT / room, "*.py", "*.?pp", "*.cu", "*.cuh"):
            lines = len(path.read_text().splitlines())
            assert lines <= budget(path), f"{short(path)}: {lines} lines hold a second idea"


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


def test_public_names_are_documented_with_examples():
    for name, value in house.public():
        text = inspect.getdoc(value) or ""
        is_error = inspect.isclass(value) and issubclass(value, BaseException)
        assert text, f"{name} has no docstring"
        assert is_error or ">>>" in text, f"{name} has no example"
        for key in house.methods_of(value):
            assert inspect.getdoc(getattr(value, key)), f"{name}.{key} has no docstring"


def test_public_list_is_whole():
    for name in varlen.__all__:
        assert getattr(varlen, name) is not None
    assert set(varlen.__all__) <= set(dir(varlen))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        varlen.nonsense  # noqa: B018


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
TEXTS = ("*.py", "*.pyi", "*.?pp", "*.cu", "*.cuh", "*.md", "*.toml", "*.txt", "*.cmake", "*.ipynb")


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
