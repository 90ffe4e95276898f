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


def homes(folder: str) -> dict[str, list[str]]:
    """The verbs of each module of a folder; those that none defines are the core's own."""
    places: dict[str, str] = {}
    for path in sorted(PACKAGE.glob(f"{folder}/*.py")):
        functions = {node.name for node in _tree(path).body if isinstance(node, ast.FunctionDef)}
        for verb in functions.intersection(verbs()) if path.stem not in OTHERS else ():
            if verb in places:
                raise ValueError(f"{path}: {verb} is the name of a verb, which {places[verb]} defines")
            places[verb] = f"varlen.backends.{folder}.{path.stem}"
    home: dict[str, list[str]] = {}
    for verb in verbs():
        home.setdefault(places.get(verb, "varlen._core"), []).append(verb)
    return home


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())
