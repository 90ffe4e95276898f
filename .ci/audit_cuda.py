"""What is in the CUDA module: kernels for which GPUs, how much stack they take, how many bytes each noun has.

    python .ci/audit_cuda.py CUOBJDUMP MODULE OBJECTS [TARGET...]

CUOBJDUMP is the tool of that name, MODULE the `_cuda` extension, OBJECTS the folder that its sources of
`cpp/src/cuda` were compiled to. Targets are written as CMake does, `75-real` or `120-virtual`; all are meant
without any. The counts and the bytes are printed; what is missing or should not be there
is too, and the exit status is 1 then.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

TARGETS = {75, 80, 86, 89, 90, 100, 120}
TARGETS_OF_PTX = {120}  # for GPUs that come after those

# Bytes of stack that a kernel may have on every GPU. A spilled register has its place on the stack: a kernel
# that is not in here spills none. Registers that are kept over a call of a function are among these bytes.
STACKS = {
    r"\bScanBody<": (32, "steps of a fold are called from several places, which keeps the code small"),
    r"\bSoftmaxBody<": (32, "folds of a row are called from several places, which keeps the code small"),
}

# Bytes of stack of each kernel, by the number of a target.
Kernels = dict[int, dict[str, int]]


def kernels_in(listing: str) -> Kernels:
    """The kernels of `cuobjdump -res-usage`."""
    found: Kernels = defaultdict(dict)
    target, name = 0, ""
    for line in listing.splitlines():
        if match := re.match(r"arch = sm_(\d+)", line):
            target = int(match[1])
        elif match := re.match(r"\s*Function (\S+):", line):
            name = match[1]
        elif name and (match := re.search(r"\bSTACK:(\d+)", line)):
            found[target][name] = int(match[1])
            name = ""
    return dict(found)


def ptx_in(listing: str) -> dict[int, set[str]]:
    """The kernels of `cuobjdump -ptx`, by target."""
    found: dict[int, set[str]] = defaultdict(set)
    target = 0
    for line in listing.splitlines():
        if match := re.match(r"\s*\.target sm_(\d+)", line):
            target = int(match[1])
        elif match := re.search(r"\.entry ([\w$]+)", line):
            found[target].add(match[1])
    return dict(found)


def missing_kernels(kernels: Kernels, ptx: dict[int, set[str]], targets: Iterable[str] = ()) -> list[str]:
    """A line for each kernel that some target lacks."""
    built, built_ptx = TARGETS, TARGETS_OF_PTX
    if targets:
        built, built_ptx = (
            {int(each.partition("-")[0]) for each in targets if each.endswith(kind)}
            for kind in ("-real", "-virtual")
        )
    every = set().union(*kernels.values(), *ptx.values())
    if not every:
        return ["no kernel was found in the module"]
    wanted = [(f"sm_{target}", set(kernels.get(target, ()))) for target in sorted(built)]
    wanted += [(f"PTX of sm_{target}", ptx.get(target, set())) for target in sorted(built_ptx)]
    faults = []
    for name, there in wanted:
        if not there:
            faults.append(f"{name}: no kernel is built for it")
        else:
            faults += [f"{name}: there is no {kernel}" for kernel in sorted(every - there)]
    return faults


def deep_stacks(kernels: Kernels, names: dict[str, str]) -> list[str]:
    """A line for each kernel that takes more stack than it may, and for what is allowed to none."""
    faults, used = [], set()
    for target, stacks in sorted(kernels.items()):
        for kernel, size in sorted(stacks.items()):
            if size == 0:
                continue
            name = names.get(kernel, kernel)
            allowed = [pattern for pattern in STACKS if re.search(pattern, name)]
            used.update(allowed)
            most = max((STACKS[pattern][0] for pattern in allowed), default=0)
            if size > most:
                faults.append(f"sm_{target}: {size} bytes of stack, {most} at most: {name}")
    faults += [f"STACKS: no kernel needs {pattern!r} any more" for pattern in STACKS if pattern not in used]
    return faults


def bytes_of_nouns(objects: Path) -> dict[str, int]:
    """The bytes of kernels in the object files, all targets together, by folder."""
    sizes: dict[str, int] = defaultdict(int)
    for path in sorted(objects.rglob("*.cu.o")):
        parent = path.relative_to(objects).parent
        sizes[parent.parts[-1] if parent.parts else path.name.split(".")[0]] += kernel_bytes(path)
    return dict(sizes)


def kernel_bytes(path: Path) -> int:
    """The bytes of kernels in an object file or a library."""
    listing = run("readelf", "-SW", str(path))
    return sum(int(size, 16) for size in re.findall(r" \.nv_fatbin +PROGBITS +\w+ +\w+ +(\w+)", listing))


def table_of(sizes: dict[str, int], module: int, kernels: int) -> list[str]:
    """The lines that say where the bytes of the module are."""
    rows = sorted(sizes.items(), key=lambda item: -item[1])
    between = kernels - sum(sizes.values())
    rows += [("between them", between)] * (between != 0) + [("host code, CUDA's runtime", module - kernels)]
    return [f"{size:9d}  {100 * size / module:5.1f} %  {name}" for name, size in rows]


def run(*command: str, given: str = "") -> str:
    """What a command prints; CalledProcessError where it fails."""
    return subprocess.run(
        command, input=given, capture_output=True, text=True, check=True, timeout=300
    ).stdout


def demangled(kernels: Iterable[str]) -> dict[str, str]:
    """The names of C++ behind those of the linker."""
    mangled = sorted(set(kernels))
    return dict(zip(mangled, run("c++filt", given="\n".join(mangled)).splitlines(), strict=True))


def main(cuobjdump: str, module: str, objects: str, *targets: str) -> int:
    """Audit; 0 where the module is as it should be."""
    kernels = kernels_in(run(cuobjdump, "-res-usage", module))
    ptx = ptx_in(run(cuobjdump, "-ptx", module))
    faults = missing_kernels(kernels, ptx, targets)
    names = demangled(set().union(*kernels.values()))
    faults += deep_stacks(kernels, names)
    sizes = bytes_of_nouns(Path(objects))
    all_kernels = kernel_bytes(Path(module))
    if sum(sizes.values()) > all_kernels:
        faults.append(f"{objects}: {sum(sizes.values())} bytes of kernels, the module has {all_kernels}")
    targets = ", ".join([f"sm_{t} {len(k)}" for t, k in sorted(kernels.items())])
    targets += "".join(f", PTX of sm_{t} {len(k)}" for t, k in sorted(ptx.items()))
    print(f"kernels: {targets}")
    print(*table_of(sizes, Path(module).stat().st_size, all_kernels), sep="\n")
    print(*(f"audit: {fault}" for fault in faults), sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
