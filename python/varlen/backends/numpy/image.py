"""Images (n, channels, height, width): borders of zeros, and patches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pad_images(images: NDArray[Any], padding: tuple[int, int, int, int]) -> NDArray[Any]:
    """Images with zeros around them: up, left, below, right."""
    up, left, below, right = padding
    n, channels, height, width = images.shape
    result = np.zeros((n, channels, up + height + below, left + width + right), images.dtype)
    result[:, :, up : up + height, left : left + width] = images
    return result


def patches(images: NDArray[Any], size: tuple[int, int], stride: tuple[int, int]) -> NDArray[Any]:
    """(n, down, across, channels, *size): the patches of images."""
    seen = np.lib.stride_tricks.sliding_window_view(images, size, (2, 3))
    result: NDArray[Any] = seen[:, :, :: stride[0], :: stride[1]].transpose(0, 2, 3, 1, 4, 5)
    return result
