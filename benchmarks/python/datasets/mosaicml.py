"""MosaicML's streaming, without the pictures for which it imports torchvision, where that does not load."""

from __future__ import annotations

import importlib.machinery
import sys
from unittest import mock

import numpy as np
import transformers  # noqa: F401  it asks whether torchvision is there, before that seems to be

try:
    import torchvision  # noqa: F401
except Exception:
    for part in ("", ".datasets", ".transforms", ".transforms.functional"):
        name = f"torchvision{part}"
        sys.modules[name] = mock.MagicMock(__spec__=importlib.machinery.ModuleSpec(name, None))
    sys.modules["torchvision.datasets"].VisionDataset = object  # type: ignore[attr-defined]

import streaming


def write(samples: list[dict[str, np.ndarray]], path: str, size: int) -> None:
    """Records of arrays in shards of `size` bytes."""
    columns = {key: f"ndarray:{array.dtype}" for key, array in samples[0].items()}
    with streaming.MDSWriter(out=path, columns=columns, size_limit=size) as writer:
        for sample in samples:
            writer.write(sample)
