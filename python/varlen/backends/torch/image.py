"""Images (n, channels, height, width): borders of zeros, and patches."""

from __future__ import annotations

import torch


def pad_images(images: torch.Tensor, padding: tuple[int, int, int, int]) -> torch.Tensor:
    """Images with zeros around them: up, left, below, right."""
    top, left, bottom, right = padding
    return torch.nn.functional.pad(images, (left, right, top, bottom))


def patches(images: torch.Tensor, size: tuple[int, int], stride: tuple[int, int]) -> torch.Tensor:
    """(n, down, across, channels, *size): the patches of images."""
    return images.unfold(2, size[0], stride[0]).unfold(3, size[1], stride[1]).permute(0, 2, 3, 1, 4, 5)
