"""Containers to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from varlen import _hooks

if TYPE_CHECKING:
    import os


class FileMethods:
    """The method that writes a container to a file; containers inherit it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     vl.Ragged([3, 1, 4], [1, 2]).save(f"{folder}/r.safetensors")
    ...     vl.load(f"{folder}/r.safetensors").to_list()
    [[3], [1, 4]]
    """

    __slots__ = ()

    def save(self, path: str | os.PathLike[str], *, durable: bool = True) -> None:
        """Write the container to a file, which `varlen.load` reads.

        Parameters
        ----------
        path : path
            The file to write; an existing one is replaced at once. It is a safetensors file.
        durable : bool
            False skips the fsync, which is faster; a power cut within seconds may lose the file.

        Raises
        ------
        TypeError
            A file cannot hold the dtype.
        OSError
            The system refused to write; nothing changed.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     vl.Ragged([3, 1, 4], [1, 2]).save(f"{folder}/r.safetensors")
        ...     vl.load(f"{folder}/r.safetensors").to_list()
        [[3], [1, 4]]
        """
        _hooks.find("save_tree")(self, path, durable)
