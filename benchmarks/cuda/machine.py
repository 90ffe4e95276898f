"""The GPU of this machine: what it is, by which driver, at which clocks."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

# What `nvidia-smi` is asked for, and what it is called in the results.
FIELDS = {
    "name": "name",
    "driver_version": "driver",
    "compute_cap": "compute_capability",
    "memory.total": "memory_mib",
    "clocks.current.sm": "sm_mhz",
    "clocks.max.sm": "most_sm_mhz",
    "clocks.current.memory": "memory_mhz",
    "clocks.max.memory": "most_memory_mhz",
    "power.limit": "power_limit_w",
    "temperature.gpu": "celsius",
    "utilization.gpu": "busy_percent",
    "ecc.mode.current": "ecc",
}


class NoGpu(Exception):
    """There is none here, said in a sentence."""


def ask() -> str:
    """What `nvidia-smi` prints of the fields.

    Raises
    ------
    NoGpu
        There is no such tool, or it finds nothing.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        raise NoGpu("This machine has no GPU that CUDA runs on: there is no nvidia-smi.")
    command = [tool, f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0 or not done.stdout.strip():
        said = " ".join((done.stderr or done.stdout).split()) or f"status {done.returncode}"
        raise NoGpu(f"This machine has no GPU that CUDA runs on: nvidia-smi says {said!r}.")
    return done.stdout


def find(said: str | None = None) -> dict[str, Any]:
    """The first GPU of what `ask` gives; numbers are numbers, and what the driver does not tell is None."""
    cells = [cell.strip() for cell in (ask() if said is None else said).strip().splitlines()[0].split(",")]
    return {name: _number(cell) for name, cell in zip(FIELDS.values(), cells, strict=True)}


def _number(cell: str) -> Any:
    if cell.startswith("[") or cell in ("", "N/A"):
        return None
    return float(cell) if re.fullmatch(r"\d+\.\d+", cell) else int(cell) if cell.isdigit() else cell


def file_name(gpu: str) -> str:
    """What its results are called.

    >>> file_name("NVIDIA H200"), file_name("NVIDIA A100-SXM4-80GB")
    ('h200.json', 'a100-sxm4-80gb.json')
    """
    words = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    return words.removeprefix("nvidia-").removeprefix("geforce-") + ".json"
