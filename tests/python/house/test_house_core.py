"""The laws of the core: which floor may include which, what stands in which room, what kernels avoid."""

import ast
import re

import pytest
import varlen as vl
from house import (
    BINDINGS,
    CPU,
    CUDA,
    INCLUDE,
    MODEL,
    MODEL_INCLUDE,
    PACKAGE,
    ROOT,
    SRC,
    SUPPORT,
    TESTS,
    code_of,
    includes_of,
    short,
    sources,
)
from varlen import _core, _hooks

# Kernels that other kernels call, with no binding of their own.
INSIDE = {"host", "layout", "numbers", "offsets", "pieces", "sequence"}
# Rooms of bindings that are no noun.
TOOLS = {"module", "support"}
# The pool starts threads, so it allocates; a thread that cannot be started is an exception, caught at once.
MAY_ALLOCATE = {"pool", "pool_threads", "cores"}

CODE = ("*.?pp", "*.inc")
MODELS = sources(MODEL_INCLUDE, *CODE) + sources(MODEL, *CODE)
HEADERS = [path for path in sources(INCLUDE, *CODE) if path not in MODELS]
KERNELS = HEADERS + sources(SUPPORT, *CODE) + sources(CPU, *CODE)
CORE = KERNELS + MODELS + sources(BINDINGS, *CODE)


def nouns_in(folder, pattern, prefix=""):
    """A noun is a folder of the room, or a file in it."""
    found = set()
    for path in sources(folder, pattern):
        place = path.relative_to(folder)
        found.add(place.parts[0] if len(place.parts) > 1 else place.stem.removeprefix(prefix).split("_")[0])
    return found


def nouns_of_rooms():
    return {
        "include": nouns_in(INCLUDE, "*.hpp"),
        "support": nouns_in(SUPPORT, "*.cpp"),
        "cpu": nouns_in(CPU, "*.cpp"),
        "bindings": nouns_in(BINDINGS, "*.cpp"),
        "tests": {path.stem.split("_")[1] for path in sources(TESTS / "python", "test_*.py")},
        "cpp-tests": nouns_in(TESTS / "cpp", "*_test.cpp"),
        "fuzz": nouns_in(TESTS / "fuzz", "*_fuzz.cpp"),
    }


def test_nouns_stand_in_their_rooms():
    rooms = nouns_of_rooms()
    assert rooms["cpu"] <= rooms["include"]
    assert rooms["cpu"] - rooms["bindings"] == INSIDE
    tested = rooms["tests"] | rooms["cpp-tests"] | rooms["fuzz"]
    assert rooms["bindings"] - TOOLS - {"file"} <= tested  # files are tested as those of io
    assert rooms["support"] & rooms["bindings"] <= rooms["include"]


def test_kernels_of_a_noun_have_its_public_header():
    for path in sources(CPU, "*.cpp"):
        assert path.parent.parent == CPU, f"{short(path)} does not stand in the folder of a noun"
        assert (INCLUDE / f"{path.parent.name}.hpp").exists(), f"{short(path)} has no header"


# The floors from the bottom; what stands on one may include what stands on those named.
FLOORS = {
    "include": {"include"},
    "support": {"include", "support"},
    "cpu": {"include", "support", "cpu"},
    "model": {"include", "support", "model"},
    "binding support": {"include", "model", "binding support"},
    "bindings": {"include", "model", "binding support", "bindings"},
}


def place_of(path):
    """(floor, noun) of a file."""
    for floor, folder in (
        ("model", MODEL_INCLUDE),
        ("include", INCLUDE),
        ("support", SUPPORT),
        ("cpu", CPU),
        ("model", MODEL),
        ("binding support", BINDINGS / "support"),
        ("bindings", BINDINGS),
    ):
        if path.is_relative_to(folder):
            parts = path.relative_to(folder).with_suffix("").parts
            return floor, parts[0] if floor in ("cpu", "bindings") else ""
    raise AssertionError(f"{short(path)} stands on no floor")


def included_by(path):
    """The files of the core that a file includes; every name in quotes must be one."""
    roots = [path.parent, INCLUDE.parent, BINDINGS if path.is_relative_to(BINDINGS) else SRC]
    for name in includes_of(path):
        if name.startswith('"'):
            found = [root / name.strip('"') for root in roots if (root / name.strip('"')).is_file()]
            assert found, f"{short(path)} includes {name}, which is nowhere"
            yield found[0].resolve()


def test_includes_go_down():
    for path in CORE:
        floor, noun = place_of(path)
        for other in included_by(path):
            below, its_noun = place_of(other)
            assert below in FLOORS[floor], f"{short(path)} includes {short(other)}"
            if its_noun != noun and below == floor:
                # A noun of the bindings shows one header to others; kernels show theirs in include/ alone.
                shown = floor == "bindings" and (
                    other == BINDINGS / its_noun / f"{its_noun}.hpp" or its_noun == "rooms"
                )
                assert shown, f"{short(path)} includes {short(other)}, which is inside of another noun"


def test_nouns_do_not_include_each_other_in_circles():
    for floor in ("include", "bindings"):
        below = {}
        for path in CORE:
            if place_of(path)[0] == floor:
                name = path.stem if floor == "include" else place_of(path)[1]
                others = (other for other in included_by(path) if place_of(other)[0] == floor)
                names = {other.stem if floor == "include" else place_of(other)[1] for other in others}
                below.setdefault(name, set()).update(names - {name})
        while below:
            ends = {name for name, others in below.items() if not others & below.keys()}
            assert ends, f"a circle among {sorted(below)}"
            below = {name: others for name, others in below.items() if name not in ends}


def test_the_reader_of_includes_sees_what_the_preprocessor_sees():
    """Files that are included by a macro are named in the macro."""
    named = {
        match
        for path in KERNELS
        for match in re.findall(r'^#define VARLEN_LOOPS "(.+)"', path.read_text(), flags=re.MULTILINE)
    }
    assert named
    for path in sources(CPU, "*.inc"):
        inside = {other for each in sources(path.parent, *CODE) for other in included_by(each)}
        assert path in inside or short(path).removeprefix("cpp/src/") in named, f"{short(path)} is not used"
    for name in named:
        assert (SRC / name).is_file()


def test_types_have_names_of_their_own():
    """Outside unnamed namespaces the linker keeps one destructor for two types of one name."""
    homes = {}
    for path in CORE:
        if path.suffix == ".inc":  # stands in the namespace of who includes it
            continue
        unnamed = r"^namespace \{$.*?^\}  // namespace$"
        shared = re.sub(unnamed, "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        space = re.findall(r"^namespace ([\w:]+) \{", shared, flags=re.MULTILINE)[:1]
        for name in re.findall(r"^(?:struct|class|union) ([\w:]+)[^;{]*\{", shared, flags=re.MULTILINE):
            homes.setdefault((*space, name), []).append(short(path))
    assert len(homes) > 50
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_bindings_are_listed_and_written():
    listed = re.findall(r"ROOM\((\w+)\)", (BINDINGS / "rooms.hpp").read_text())
    assert sorted(listed) == sorted(set(listed))
    tools = {"device", "hooks", "outputs"}
    assert {name.split("_")[0] for name in listed} <= nouns_in(BINDINGS, "*.cpp") | tools
    assert nouns_in(BINDINGS, "*.cpp") - TOOLS <= {name.split("_")[0] for name in listed}


def test_the_core_imports_no_module_of_the_package():
    """What it asks of Python is registered: see support/hooks.hpp."""
    for path in sources(BINDINGS, *CODE):
        imported = re.findall(r'\b(?:import|PyImport_\w+)\("([^"]*)"', path.read_text())
        assert not [name for name in imported if name.split(".")[0] == "varlen"], short(path)


def test_kernels_that_the_host_has_are_launched_at_any_place():
    listed = (INCLUDE / "host.hpp").read_text()
    names = set(re.findall(r"\bKERNEL\((\w+)\)", listed))
    assert names
    called = {name for name in names if not name.endswith("_scratch")}
    branch = re.compile(rf"kernels->({'|'.join(sorted(called))})\(")
    for path in sources(BINDINGS, *CODE):
        assert not branch.search(path.read_text()), f"{short(path)} calls a kernel past `launch`"


def test_hooks_are_typed_and_found():
    """Python registers each hook that the core has, or says where it is found."""
    text = (BINDINGS / "support/hooks.hpp").read_text()
    names = set(re.findall(r'^  Hook \w+\{all, "(\w+)"\};', text, flags=re.MULTILINE))
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    (register,) = (node for node in stub.body if getattr(node, "name", None) == "register")
    assert {argument.arg for argument in register.args.kwonlyargs} == names
    assert set(_hooks._HOMES) <= names
    for name in _hooks._HOMES:
        assert callable(_hooks.find(name)), name


def test_hooks_of_other_names_are_refused_before_any_is_taken():
    _core.register(as_vocabulary=None)
    with pytest.raises(TypeError, match="there is no hook called 'load_kernel'"):
        _core.register(find=None, load_kernel=None)
    assert vl.Dim("word", vocab=["a", "b"]).dimension == 2  # which is found again


def test_one_header_brings_numpy_in():
    including = [short(path) for path in sources(BINDINGS, *CODE) if "pybind11/numpy.h" in path.read_text()]
    assert including == ["cpp/bindings/support/ndarray.hpp"]


def test_every_binding_belongs_to_one_unit():
    """What no group names is in the first."""
    text = (ROOT / "CMakeLists.txt").read_text()
    groups = dict(re.findall(r'set\(VARLEN_GROUP_(\w+)\s+"([^"]+)"\)', text))
    assert re.search(r"foreach\(group ([\w ]+)\)", text)[1].split() == list(groups)
    nouns = [noun for group in groups.values() for noun in group.split("|")]
    assert len(nouns) == len(set(nouns))
    assert set(nouns) <= nouns_in(BINDINGS, "*.cpp")


def test_kernels_and_models_include_std_and_headers_only():
    for path in KERNELS + MODELS:
        for name in includes_of(path):
            std = re.fullmatch(r"<\w+>|<(sys/)?\w+\.h>", name) and "Python" not in name
            assert name.startswith('"') or std, f"{short(path)} includes {name}"


def test_kernels_and_models_know_no_python():
    for path in KERNELS + MODELS:
        code = code_of(path)
        for word in (r"\bPy[A-Z_]\w*", r"\bpybind11\b", r"\busing namespace std\b", r"\bassert\s*\("):
            assert not re.search(word, code), f"{short(path)} says {word}"


def test_kernels_do_not_throw():
    for path in KERNELS:
        assert not re.search(r"\bthrow\b", code_of(path)), f"{short(path)} throws"


def test_the_model_has_a_header_for_each_class_and_a_test():
    tested = {path.stem.removesuffix("_test") for path in sources(TESTS / "cpp", "*_test.cpp")}
    assert {"level", "joint_model", "batch_plan"} <= tested
    assert {"level", "joint", "batch_plan", "dense", "file"} <= {path.stem for path in MODELS}


def test_kernels_do_not_allocate():
    for path in KERNELS:
        if path.stem in MAY_ALLOCATE:
            continue
        code = code_of(path)
        for word in (r"\bnew\b", r"\bmalloc\b", r"\bstd::(vector|string|map|set|function)\b", r"\btry\b"):
            assert not re.search(word, code), f"{short(path)} says {word}"


def test_cuda_is_known_in_its_room_only():
    """What is outside of it knows the table of kernels, by headers that know nothing of CUDA."""
    for path in CORE:
        foreign = [name for name in includes_of(path) if "cuda" in name.lower()]
        assert not [name for name in foreign if not name.strip('"<>').startswith("varlen/cuda/")], short(path)
    for path in sources(CUDA, "*.cu", "*.cuh"):
        assert not [name for name in includes_of(path) if "pybind11" in name or "Python" in name], short(path)


def test_instructions_are_chosen_in_one_place():
    """Which set of instructions runs is asked in support/dispatch alone."""
    for path in CORE:
        if path.parent != SUPPORT:
            code = code_of(path)
            for word in (
                r"__builtin_cpu_\w+",
                r"\btarget_clones\b",
                r"\b__attribute__\(\(target\b",
                r"#pragma (?!GCC unroll)",  # how often a loop stands says nothing of instructions
                r"\bavx2::",
            ):
                assert not re.search(word, code.replace("#pragma once", "")), f"{short(path)} says {word}"


def test_pages_of_the_core_name_the_rooms_that_are_there():
    text = (ROOT / "cpp/README.md").read_text()
    for room in re.findall(r"`((?:src|bindings|include)/[\w/]+?)/?(?:<noun>[^`]*)?`", text):
        assert (ROOT / "cpp" / room).exists() or room == "src/model", room
