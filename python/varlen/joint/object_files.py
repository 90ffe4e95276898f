"""Any object to a file, and back."""

from __future__ import annotations

import os
from typing import Any

from varlen.arguments import as_bool, as_path
from varlen.errors import error_of, type_error
from varlen.io.bits import has_bits
from varlen.io.file import open_file
from varlen.io.formats import TREE
from varlen.io.layout import read_header
from varlen.io.save import split_name
from varlen.io.tree import load_tree, save_tree
from varlen.io.writer import Writer
from varlen.joint.joint_dict import JointNestedRaggedTensorDict

__all__ = ["load", "save"]

_ROWS_AT_ONCE = 100_000


def save(x: Any, path: str | os.PathLike[str], *, durable: bool = True) -> None:
    """Write containers, arrays and tensors to one file, which `load` reads.

    Parameters
    ----------
    x
        A container of varlen, an array, a tensor, a number, text or None, or dicts, lists and tuples of
        these, nested as you like. A joint dict or a Dataset alone makes a `.nrt` file, as its `save` does;
        so does a split of Hugging Face's `datasets`, through its Arrow table.
    path
        The file to write; an existing one is replaced at once. It is a plain safetensors file, whose tensors
        have names like "a/values".
    durable
        False skips the fsync, which is faster; a power cut within seconds may lose the file.

    Raises
    ------
    TypeError
        A file cannot hold an object; the error names its place.
    OSError
        The system refused to write; nothing changed.

    See Also
    --------
    varlen.io.save : Flat arrays to a `.nrt` file.

    Examples
    --------
    >>> import tempfile
    >>> r = vl.Ragged([3, 1, 4], [1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     vl.save({"a": r, "b": [r * 2, np.eye(2)]}, f"{folder}/x.safetensors")
    ...     x = vl.load(f"{folder}/x.safetensors")
    >>> x["b"][0].to_list(), x["b"][0].levels[0] is x["a"].levels[0]
    ([[6], [2, 8]], True)
    """
    if isinstance(x, (str, bytes, os.PathLike)) and not isinstance(path, (str, bytes, os.PathLike)):
        raise type_error("path", f"expected a path, got {type(path).__name__}", "call save(x, path)")
    if hasattr(x, "with_format") and hasattr(x, "features"):
        with Writer(path, durable=durable) as writer:
            for table in x.with_format("arrow").iter(batch_size=_ROWS_AT_ONCE):
                writer.append(table)
    elif isinstance(x, JointNestedRaggedTensorDict) or (hasattr(x, "schema") and hasattr(x, "save")):
        x.save(path, **({} if durable else {"durable": durable}))
    else:
        save_tree(x, path, durable)


def load(path: str | os.PathLike[str], *, mmap: bool = True) -> JointNestedRaggedTensorDict | Any:
    """Load what `save` wrote: the same objects, with their dtypes, over the memory of the file.

    Parameters
    ----------
    path
        A file that `save` wrote. A `.nrt` file gives a joint dict, any other safetensors file a dict of
        arrays.
    mmap
        True maps the file: nothing is copied but the levels, which are checked. You may write to the arrays;
        this changes your memory, and never the file. Do not write into a file that is mapped; `save` replaces
        it. False reads the whole file.

    Returns
    -------
    object
        The containers, arrays and tensors. Levels, dims and arrays that were shared are shared. Tensors are
        on the CPU; arrays of other libraries are arrays of NumPy.

    Raises
    ------
    varlen.io.FileFormatError
        The file is damaged, or has another format.
    OSError
        There is no such file, or it is a folder.

    See Also
    --------
    varlen.open : Files and folders of rows, as one dataset.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     vl.save([vl.Ragged([3, 1, 4], [1, 2]), "text", None], f"{folder}/x.safetensors")
    ...     vl.load(f"{folder}/x.safetensors")[1:]
    ['text', None]
    """
    name = as_path(path)
    is_mapped = as_bool(mmap, "mmap")
    try:
        header = read_header(name)
    except OSError:
        if not os.path.isdir(name):
            raise
        advice = "vl.open(path) opens a folder of rows"
        raise error_of(IsADirectoryError, "path", f"{name} is a folder", advice) from None
    is_nested = header.names and all(split_name(full)[0] is not None for full in header.names)
    if header.metadata.get("format") == TREE or not (is_nested or has_bits(header.metadata)):
        return load_tree(name, header, is_mapped)
    if is_mapped:
        return JointNestedRaggedTensorDict.load(name)
    return JointNestedRaggedTensorDict._wrap(open_file(name, mmap=False).joint())
