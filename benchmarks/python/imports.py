"""The cost of `import varlen`, over NumPy's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import varlen

from ..harness import Case, row, spread

CHILD = "import numpy, time; t = time.perf_counter(); import varlen; print(time.perf_counter() - t)"


@row("import", "import varlen, over numpy", waits=True)
def _(case: Case) -> None:
    place = str(Path(varlen.__file__).parents[1])

    def once() -> float:
        command = f"import sys; sys.path.insert(0, {place!r}); {CHILD}"
        return float(subprocess.run([sys.executable, "-c", command], check=True, capture_output=True).stdout)

    once()
    case.goal("< 50 ms", 50, lambda _: spread(once() * 1e3 for _ in range(case.size(9, 1))), "ms")
