"""Images (n, channels, height, width): borders of zeros, and patches."""

from __future__ import annotations

import numpy as np


def pad_images(images: np.ndarray, padding: tuple[int, int, int, int]) -> np.ndarray:
    """Images with zeros around them: up, left, below, right."""
    top, left, bottom, right = padding
    n, channels, height, width = images.shape
    result = np.zeros((n, channels, top + height + bottom, left + width + right), images.dtype)
    result[:, :, top : top + height, left : left + width] = images
    return result


def patches(images: np.ndarray, size: tuple[int, int], stride: tuple[int, int]) -> np.ndarray:
    """(n, down, across, channels, *size): the patches of images."""
    windows = np.lib.stride_tricks.sliding_window_view(images, size, (2, 3))
    result: np.ndarray = windows[:, :, :: stride[0], :: stride[1]].transpose(0, 2, 3, 1, 4, 5)
    return result
