"""Where the rooms are, and what is read from their files: used by the tests of the house."""

import ast
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import varlen

ROOT = Path(__file__).resolve().parents[3]
INCLUDE = ROOT / "cpp/include/varlen"
SRC = ROOT / "cpp/src"
CPU = SRC / "cpu"
MODEL = SRC / "model"
MODEL_INCLUDE = INCLUDE / "model"
SUPPORT = SRC / "support"
CUDA = ROOT / "cpp/src/cuda"
BINDINGS = ROOT / "cpp/bindings"
PACKAGE = ROOT / "python/varlen"
TESTS = ROOT / "tests"

# Modules that import thinc when they are imported.
THINC = ["varlen.thinc.registration", "varlen.thinc.varlen_ops", "varlen.thinc.varlen_cupy_ops"]


def sources(folder, *patterns):
    found = sorted(path for pattern in patterns for path in folder.rglob(pattern))
    return [path for path in found if "__pycache__" not in path.parts]


def short(path):
    return str(path.relative_to(ROOT))


def code_of(path):
    """C++ without comments and without what stands in quotes."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def includes_of(path):
    return re.findall(r'^\s*#\s*include\s+(<[^>]+>|"[^"]+")', path.read_text(), flags=re.MULTILINE)


def module_of(path):
    parts = ("varlen", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, modules, *, in_annotations=False):
    """Which of these modules a file imports, inside functions and, on request, for annotations too."""
    found = set()

    def visit(node):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not in_annotations:
            for child in node.orelse:
                visit(child)
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(path, node)
            names = {alias.name for alias in node.names} - {"_core", "_cuda"}
            found.update(f"{base}.{name}" if f"{base}.{name}" in modules else base for name in names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found.update(str(each.value) for each in node.args[:1] if isinstance(each, ast.Constant))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text()))
    return found & (modules - {module_of(path)})


def import_graph(*, in_annotations=False):
    """{module: the modules of the package that it imports}."""
    paths = {module_of(path): path for path in sources(PACKAGE, "*.py")}
    return {name: imports_of(path, set(paths), in_annotations=in_annotations) for name, path in paths.items()}


def circles(graph):
    """Groups of modules that reach each other."""

    def reached(start):
        seen, waiting = set(), [start]
        while waiting:
            for other in graph[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    reach = {name: reached(name) for name in graph}
    groups = {frozenset(o for o in reach[n] if n in reach[o]) for n in graph if n in reach[n]}
    return sorted(sorted(group) for group in groups)


def absolute(path, node):
    if node.level == 0:
        return node.module or ""
    here = ("varlen", *path.relative_to(PACKAGE).with_suffix("").parts)
    base = here[: len(here) - node.level]
    return ".".join([*base, *([node.module] if node.module else [])])


def module_names():
    """Every module of the package, but those that need what is absent, and private ones."""
    names = [info.name for info in pkgutil.walk_packages(varlen.__path__, "varlen.")]
    if importlib.util.find_spec("thinc") is None:
        names = [name for name in names if name not in THINC]
    private = re.compile(r"\._")
    return ["varlen", *(name for name in names if not private.search(name))]


def public():
    """(dotted name, object) of all that a person may call: names of __all__, or those defined in a module."""
    found = {}
    for name in module_names():
        module = importlib.import_module(name)
        own = getattr(module, "__all__", None)
        if own is None:
            own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == name]
        for key in own:
            value = getattr(module, key)
            ours = getattr(value, "__module__", name).split(".")[0] == "varlen"
            if inspect.isbuiltin(value) or getattr(value, "_is_protocol", False):
                continue
            if ours and not key.startswith("_") and (inspect.isclass(value) or callable(value)):
                found.setdefault(id(value), (f"{name}.{key}", value))
    return sorted(found.values(), key=lambda pair: pair[0])


def methods_of(value):
    """Public methods and properties that a class defines itself."""
    kinds = (property, classmethod, staticmethod)
    members = vars(value).items() if inspect.isclass(value) else ()
    return [key for key, item in members if key[0] != "_" and (callable(item) or isinstance(item, kinds))]


def stub_names(text):
    """Names of a stub: {"Level": {"total", ...}, "num_threads": None}."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)} | {
                item.target.id for item in node.body if isinstance(item, ast.AnnAssign)
            }
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = None
    return found


def in_python(code, **environment):
    """What fresh Python code prints, and its warnings; the code must come to its end."""
    clean = {name: value for name, value in os.environ.items() if name != "VARLEN_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=clean | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr
