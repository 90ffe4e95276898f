"""The packages of verbs for arrays and for tensors: each verb of the table, from the file that defines it."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "varlen/backends"
# The verbs inside a graph are a package of their own, in one file.
OTHERS = {"__init__", "graph"}


def verbs() -> list[str]:
    """The verbs of the table."""
    (table,) = (node for node in _tree(PACKAGE / "table.py").body if isinstance(node, ast.ClassDef))
    return [node.name for node in table.body if isinstance(node, ast.FunctionDef)]


def functions(path: Path) -> set[str]:
    """The functions of a module."""
    return {node.name for node in _tree(path).body if isinstance(node, ast.FunctionDef)}


def _array_verbs() -> set[str]:
    """The verbs that take arrays one by one: tensors need a function of their own."""
    (table,) = (node for node in _tree(PACKAGE / "table.py").body if isinstance(node, ast.ClassDef))
    return {
        node.name
        for node in table.body
        if isinstance(node, ast.FunctionDef)
        and any(a.annotation is not None and ast.unparse(a.annotation) == "Array" for a in node.args.args)
    }


def homes(folder: str) -> dict[str, list[str]]:
    """The verbs of each module of a folder; those that none defines are the core's own."""
    places: dict[str, str] = {}
    for path in sorted(PACKAGE.glob(f"{folder}/*.py")):
        for verb in functions(path).intersection(verbs()) if path.stem not in OTHERS else ():
            if verb in places:
                raise ValueError(f"{path}: {verb} is the name of a verb, which {places[verb]} defines")
            places[verb] = f"varlen.backends.{folder}.{path.stem}"
    missing = [verb for verb in verbs() if verb not in places]
    if folder == "torch":
        missing = [verb for verb in missing if verb in _array_verbs()]
    else:
        missing = [verb for verb in missing if verb not in functions(PACKAGE.parent / "_core.pyi")]
    if missing:
        where = f"no module of backends/{folder}/ has a function {missing[0]}"
        raise ValueError(where if folder == "torch" else f"{where}, nor has _core.pyi")
    home: dict[str, list[str]] = {}
    for verb in verbs():
        home.setdefault(places.get(verb, "varlen._core"), []).append(verb)
    return home


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())
