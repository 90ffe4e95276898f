"""Plants faults one by one, and says which tests see them.

    python tests/faults/run.py [--list] [--clean] [--kind KIND] [--only REGEX]

A fault of `faults.toml` is a file, an old text that stands in it once, the new text, and the checks that see
it. It is planted in a copy of the tree, build/faults, so that the tree stays as it is. A check is a kind and
what it runs:

    python PATH...         Python tests on an optimised core
    asan NOUN...           C++ tests under AddressSanitizer and UBSan
    asan-python PATH...    Python tests on a core that is built with both
    tsan NOUN...           C++ tests under ThreadSanitizer

The exit status is 1 where a check does not see its fault. `--clean` runs the checks without faults: all must
pass.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build/faults"
KINDS = ("python", "asan", "asan-python", "tsan")
SANITIZERS = "detect_leaks=0:allocator_may_return_null=1:handle_sigill=1"


@dataclass(frozen=True)
class Fault:
    """A line that is wrong, and the checks that see it."""

    name: str
    file: str
    old: str
    new: str
    seen_by: list[str]


def faults() -> list[Fault]:
    """All of the table; a text that does not stand in its file once is an error."""
    table = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
    found = [Fault(**each) for each in table["fault"]]
    for fault in found:
        count = (ROOT / fault.file).read_text().count(fault.old)
        if count != 1:
            raise SystemExit(f"{fault.name}: the old text stands {count} times in {fault.file}")
        if not all(check.split()[0] in KINDS for check in fault.seen_by):
            raise SystemExit(f"{fault.name}: expected checks of {', '.join(KINDS)}")
    return found


def copy_tree() -> None:
    """What git knows, where it differs from the copy: what is the same is not built again."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        source, target = ROOT / name, TREE / name
        if source.is_file() and not (target.exists() and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """The copy of the tree has the fault meanwhile."""
    path = TREE / fault.file
    before = path.read_text()
    path.write_text(before.replace(fault.old, fault.new))
    try:
        yield
    finally:
        path.write_text(before)


def run(command: list[str], seconds: int = 900, **environment: str) -> int:
    """The exit status; 124 where it takes longer."""
    try:
        done = subprocess.run(
            command, cwd=TREE, env=os.environ | environment, capture_output=True, text=True, timeout=seconds,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 124
    (TREE / "last.log").write_text(done.stdout + done.stderr)
    return done.returncode


def build(preset: str, target: str, *options: str) -> Path:
    """What a preset builds of the copy, and where."""
    folder = TREE / "build" / preset
    python = f"-DPython_EXECUTABLE={sys.executable}"
    # What is wrong may leave a parameter without a use.
    configure = ["cmake", "-G", "Ninja", "--preset", preset, python, "-DVARLEN_WERROR=OFF", *options]
    make = ["cmake", "--build", str(folder), "--target", target]
    if run(configure) or run(make, 3600):
        raise SystemExit((TREE / "last.log").read_text())
    return folder


def pytest(package: Path, paths: list[str], python: str = sys.executable, **environment: str) -> int:
    """Of Python tests, on a package that lies in a folder."""
    tests = [f"tests/python/{path}" for path in paths]
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly"]
    environment = {"PYTHONPATH": str(package), "CI": "1", **environment}
    code = run([python, "-m", "pytest", *options, *tests], **environment)
    if code in (2, 3, 4, 5):  # tests that were not run see nothing
        raise SystemExit((TREE / "last.log").read_text())
    return code


def path_of(library: str) -> str:
    """Of a library of the compiler."""
    command = ["g++", f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def put_core(folder: Path, package: Path) -> None:
    """The core of a build beside the Python sources."""
    for core in folder.glob("_core*.so"):
        shutil.copyfile(core, package / "varlen" / core.name)


def outcome(check: str, has_faulty_core: bool, checked: str) -> int:
    """The exit status of a check; the core of `python` is built anew where its sources changed."""
    kind, *what = check.split()
    if kind == "python":
        package = TREE / "python"
        if has_faulty_core or not list((package / "varlen").glob("_core*.so")):
            put_core(build("dev", "_core", "-DVARLEN_TESTS=OFF", "-DVARLEN_IN_TREE=OFF"), package)
        return pytest(package, what)
    if kind == "asan-python":
        package = TREE / "checked"
        sources = shutil.ignore_patterns("*.so")
        shutil.copytree(TREE / "python/varlen", package / "varlen", dirs_exist_ok=True, ignore=sources)
        put_core(build("asan", "_core", "-DVARLEN_PYTHON=ON", f"-DPython_EXECUTABLE={checked}"), package)
        libraries = " ".join(path_of(name) for name in ("libasan.so", "libstdc++.so"))
        return pytest(
            package, what, checked, LD_PRELOAD=libraries, ASAN_OPTIONS=SANITIZERS,
            HYPOTHESIS_PROFILE="quick", PYTEST_ADDOPTS="-m 'not slow'",
        )  # fmt: skip
    options = ["-DVARLEN_PYTHON=ON"] if kind == "asan" else []
    folder = build(kind, "varlen_tests", *options)
    nouns = f"^({'|'.join(what)})$"
    return run(
        ["ctest", "--test-dir", str(folder), "-R", nouns, "--no-tests=error"],
        ASAN_OPTIONS=SANITIZERS, TSAN_OPTIONS="halt_on_error=1",
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name faults and checks")
    parser.add_argument("--clean", action="store_true", help="run the checks without faults")
    parser.add_argument("--kind", choices=KINDS, action="append", help="checks of this kind alone")
    parser.add_argument("--checked-python", default=sys.executable, help="for asan-python: one without torch")
    parser.add_argument("--only", default="", metavar="REGEX", help="faults whose names match")
    given = parser.parse_args()
    kinds = given.kind or KINDS
    wrong = 0
    chosen = [fault for fault in faults() if re.search(given.only, fault.name)]
    if not given.list:
        copy_tree()
    if given.clean:
        for check in sorted({c for fault in chosen for c in fault.seen_by if c.split()[0] in kinds}):
            code = outcome(check, True, given.checked_python)
            wrong += code != 0
            print(f"{'passes' if code == 0 else f'fails ({code})'}\t{check}", flush=True)
        return int(wrong > 0)
    was_core = False
    for fault in chosen:
        for check in fault.seen_by:
            if check.split()[0] not in kinds:
                continue
            if given.list:
                print(fault.name, check, sep="\t")
                continue
            is_core = fault.file.startswith("cpp/")
            with planted(fault):
                code = outcome(check, is_core or was_core, given.checked_python)
            was_core = is_core
            wrong += code == 0
            print(f"{'NOT SEEN' if code == 0 else f'seen ({code})'}\t{fault.name}\t{check}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
