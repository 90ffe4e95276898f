"""The notebooks run from the first cell to the last."""

import sys

import pytest
from house import TESTS

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", sorted((TESTS / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path):
    import nbformat
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    book = nbformat.read(path, as_version=4)
    # This interpreter, whatever kernels are installed for the user.
    manager = AsyncKernelManager()
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        display_name="test",
        language="python",
    )
    client = nbclient.NotebookClient(
        book, km=manager, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    ran = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in ran)
    assert not [output for cell in ran for output in cell.outputs if output.output_type == "error"]
