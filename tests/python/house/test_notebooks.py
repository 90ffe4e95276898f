"""The notebooks run from the first cell to the last."""

import subprocess
import sys

import pytest
from house import TESTS

pytest.importorskip("nbclient", reason="nbclient is not installed")

# In a process of its own, because the kernel's client leaves sockets to the collector. The kernel is this
# interpreter, whatever kernels are installed for the user.
RUN = """
import sys, nbclient, nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

book = nbformat.read(sys.argv[1], as_version=4)
manager = AsyncKernelManager()
manager._kernel_spec = KernelSpec(
    argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    display_name="test",
    language="python",
)
where = {"metadata": {"path": sys.argv[2]}}
nbclient.NotebookClient(book, km=manager, timeout=120, resources=where).execute()
print(sum(cell.execution_count is not None for cell in book.cells if cell.cell_type == "code"))
"""


@pytest.mark.parametrize("path", sorted((TESTS / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path):
    import nbformat

    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(path), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(cells) > 0
