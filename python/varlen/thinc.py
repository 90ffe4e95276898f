"""For those who write for Thinc: its types from here, and its ops on varlen's kernels.

`from varlen.thinc import Ragged, Padded, Pairs` stands in the place of Thinc's types, and needs no thinc.
`VarlenOps`, `install` and `uninstall` need it: `use_ops("varlen")` selects the ops, once varlen is installed
beside thinc, and `install()` makes them the default on the CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen._lazy import loaded_from

if TYPE_CHECKING:
    from varlen.interop.thinc_install import install, uninstall
    from varlen.interop.thinc_ops import VarlenOps
    from varlen.interop.thinc_types import Padded, Pairs, Ragged

__all__ = ["Padded", "Pairs", "Ragged", "VarlenOps", "install", "uninstall"]

_load = loaded_from(
    __name__,
    {
        "Padded": "varlen.interop.thinc_types",
        "Pairs": "varlen.interop.thinc_types",
        "Ragged": "varlen.interop.thinc_types",
        "VarlenOps": "varlen.interop.thinc_ops",
        "install": "varlen.interop.thinc_install",
        "uninstall": "varlen.interop.thinc_install",
    },
)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("varlen"):
            raise
        raise ImportError(
            f"varlen.thinc.{name} needs thinc ({error}): pip install 'varlen[thinc]'", name="thinc"
        ) from error


def __dir__() -> list[str]:
    return sorted(__all__)
