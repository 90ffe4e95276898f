"""What the reference documents: public names, chosen page by page by patterns. Needs no Sphinx."""

import fnmatch
import functools
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import varlen

# Packages whose every module is public; of the others it is what `varlen.<name>` gives.
WHOLE = {"testing"}
# Other systems' names: what varlen itself calls the same belongs to its own module.
DIALECTS = {"lod", "returnn", "tf", "thinc"}
# Modules that are no interface: the tools of a package, and those that its own modules have.
PRIVATE = {
    "backends",
    "cli",
    "display",
    "interop",
    "types",
    "torch",
    "levels",
    "arguments",
    "tracing",
    "errors",
}


@functools.cache
def modules() -> list[str]:
    """Public modules, `varlen` first, dialects last: what two of them give belongs to the first."""
    names = [info.name for info in pkgutil.iter_modules(varlen.__path__) if info.name[0] != "_"]
    found = ["varlen"]
    for name in sorted(set(names) - PRIVATE, key=lambda name: (name in DIALECTS, name)):
        found.append(f"varlen.{name}")
        if name in WHOLE:
            package = importlib.import_module(f"varlen.{name}")
            found += [info.name for info in pkgutil.iter_modules(package.__path__, f"varlen.{name}.")]
    return found


def find(path: str) -> Any:
    """The module or class of a dotted name."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not path.startswith(error.name):
            raise
        above, name = path.rsplit(".", 1)
        return getattr(find(above), name)


@functools.cache
def members(path: str, home: Any = None) -> list[str]:
    """Public names of a module, or members of a class, in alphabetical order.

    What an earlier module gives under the same name belongs there.
    """
    home = find(path) if home is None else home
    if inspect.isclass(home):
        kept = [name for name in dir(home) if name[0] != "_" and hasattr(home, name)]
        return [name for name in kept if not inspect.isclass(getattr(home, name))]
    # `from varlen import *` leaves out `open`, which is public all the same.
    listed = dir(home) if path == "varlen" else getattr(home, "__all__", None)
    if listed is None:
        listed = [name for name, value in vars(home).items() if getattr(value, "__module__", "") == path]
    own = [name for name in listed if name[0] != "_" and is_ours(getattr(home, name))]
    before = [find(each) for each in modules()[: modules().index(path)]] if path in modules() else []
    return sorted(n for n in own if not any(getattr(e, n, None) is getattr(home, n) for e in before))


def own_members(kind: type) -> list[str]:
    """Public members that varlen defines, without what a subclass has from a public container."""
    containers = [varlen.Ragged, varlen.Padded, varlen.Packed, varlen.Pairs]
    above = [base for base in containers if issubclass(kind, base) and kind is not base]
    found = []
    for name in members(f"{kind.__module__}.{kind.__qualname__}", kind):
        home = next((base for base in kind.__mro__ if name in vars(base)), None)
        ours = home is not None and home.__module__.split(".")[0] == "varlen"
        if ours and not any(issubclass(base, home) for base in above):
            found.append(name)
    return found


def is_ours(value: Any) -> bool:
    """A class or function of varlen, not a module, a type alias or what another library has."""
    home = getattr(value, "__module__", None) or ""
    return callable(value) and home.split(".")[0] == "varlen"


def chosen(path: str, patterns: list[str]) -> list[str]:
    """The members that patterns choose, in the order of the patterns; each pattern has to choose some.

    A pattern beginning with ! leaves out what the others choose.
    """
    names = members(path)
    out = {name for p in patterns if p[0] == "!" for name in fnmatch.filter(names, p[1:])}
    found: dict[str, None] = {}
    for pattern in patterns:
        if pattern[0] == "!":
            continue
        fits = [name for name in fnmatch.filter(names, pattern) if name not in out]
        if pattern.startswith("__") and hasattr(find(path), pattern):
            fits = [pattern]
        if not fits:
            raise LookupError(f"{path} has nothing that {pattern!r} chooses")
        found |= dict.fromkeys(fits)
    return list(found)


def directives(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(page, home, patterns) of every `.. names::` of the pages of the reference."""
    block = re.compile(r"^\.\. names:: (\S+)\n((?:   .*\n|\n)*)", flags=re.MULTILINE)
    for page in sorted(folder.glob("*.rst")):
        for home, body in block.findall(page.read_text() + "\n"):
            yield page.name, home, [w for line in body.splitlines() if ":" not in line for w in line.split()]


def problems(folder: Path) -> list[str]:
    """What is wrong with the reference: patterns that choose nothing, names that stand nowhere or twice."""
    found, told = [], Counter[str]()
    for page, home, patterns in directives(folder):
        out = [pattern for pattern in patterns if pattern[0] == "!"]
        names: dict[str, None] = {}
        for pattern in patterns:
            try:
                names |= dict.fromkeys(chosen(home, [pattern, *out]))
            except LookupError as error:
                found.append(f"{page}: {error}")
        told.update(f"{home}.{name}" for name in names)
    found += [f"{name} is documented {count} times" for name, count in told.items() if count > 1]
    every = [f"{home}.{name}" for home in [*modules(), "varlen.Ragged"] for name in members(home)]
    missing = [name for name in every if name not in told and not wraps_one_of(told, name)]
    return found + [f"{name} is on no page" for name in missing]


def wraps_one_of(told: Iterable[str], name: str) -> bool:
    """Whether a function is one of the documented ones under the same name, with results of another class."""
    home, short = name.rsplit(".", 1)
    inner = inspect.unwrap(getattr(find(home), short, None))
    return any(f"{each}.{short}" in told and getattr(find(each), short, None) is inner for each in modules())
