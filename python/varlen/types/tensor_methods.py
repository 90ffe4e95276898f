"""Members of torch's tensors as members of the containers."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

from varlen.backends.numeric import is_float
from varlen.backends.values import copy_of
from varlen.types.device_methods import DeviceMethods
from varlen.types.tensor_calls import (
    as_numpy,
    as_tensor,
    backward,
    cast,
    contiguous,
    dtype_of,
    follow,
    is_complex,
    nested_lists,
    retain_grad,
    tensor,
    write,
)

if TYPE_CHECKING:
    from torch.autograd.graph import Node
    from typing_extensions import Self

    from varlen.backends.values import DTypes


class TensorMethods(DeviceMethods):
    """Methods of the containers, which inherit them: what torch's tensors have, of their values.

    Arrays take those that have a meaning for them; those of autograd refuse them.

    Examples
    --------
    >>> vl.Ragged([3, 1, 4], [1, 2]).float().dtype
    dtype('float32')
    """

    __slots__ = ()

    def _convert(self, dtype: DTypes) -> Self:
        return cast(self, dtype)

    @property
    def requires_grad(self) -> builtins.bool:
        """Whether autograd follows the values; always False for arrays."""
        return builtins.bool(getattr(self._rows(), "requires_grad", False))

    @property
    def grad(self) -> Self | None:
        """The gradient of the values under the same structure; None if there is none."""
        grad = getattr(self._rows(), "grad", None)
        return None if grad is None else self._with_rows(grad)

    @property
    def grad_fn(self) -> Node | None:
        """The node of autograd that made the values, or None."""
        return getattr(self._rows(), "grad_fn", None)

    @property
    def is_leaf(self) -> builtins.bool:
        """Whether no operation that autograd follows made the values; always True for arrays."""
        return builtins.bool(getattr(self._rows(), "is_leaf", True))

    @property
    def is_nested(self) -> builtins.bool:
        """False, as torch means it of its own nested tensors."""
        return False

    @property
    def is_cuda(self) -> builtins.bool:
        """Whether the values lie on a CUDA device."""
        return self.device.startswith("cuda")

    @property
    def is_meta(self) -> builtins.bool:
        """Whether the values are a shape alone, on the device "meta"."""
        return self.device == "meta"

    def float(self) -> Self:
        """Convert the values to float32, as `torch.Tensor.float`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.float().dtype
        torch.float32
        """
        result: Self = cast(self, "float32")
        return result

    def double(self) -> Self:
        """Convert the values to float64, as `torch.Tensor.double`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.double().dtype
        torch.float64
        """
        result: Self = cast(self, "float64")
        return result

    def half(self) -> Self:
        """Convert the values to float16, as `torch.Tensor.half`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.half().dtype
        torch.float16
        """
        result: Self = cast(self, "float16")
        return result

    def bfloat16(self) -> Self:
        """Convert the values to bfloat16, as `torch.Tensor.bfloat16`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Raises
        ------
        TypeError
            NumPy has no bfloat16 by itself; ml_dtypes has.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.bfloat16().dtype
        torch.bfloat16
        """
        result: Self = cast(self, "bfloat16")
        return result

    def bool(self) -> Self:
        """Convert the values to bool, as `torch.Tensor.bool`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.bool().dtype
        torch.bool
        """
        result: Self = cast(self, "bool")
        return result

    def int(self) -> Self:
        """Convert the values to int32, as `torch.Tensor.int`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.int().dtype
        torch.int32
        """
        result: Self = cast(self, "int32")
        return result

    def long(self) -> Self:
        """Convert the values to int64, as `torch.Tensor.long`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.long().dtype
        torch.int64
        """
        result: Self = cast(self, "int64")
        return result

    def short(self) -> Self:
        """Convert the values to int16, as `torch.Tensor.short`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.short().dtype
        torch.int16
        """
        result: Self = cast(self, "int16")
        return result

    def byte(self) -> Self:
        """Convert the values to uint8, as `torch.Tensor.byte`.

        Returns
        -------
        container
            The container itself if its values are so already. Autograd follows tensors.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.byte().dtype
        torch.uint8
        """
        result: Self = cast(self, "uint8")
        return result

    def type_as(self, other: Any) -> Self:
        """Convert the values to the dtype of another container.

        Parameters
        ----------
        other
            Anything with a dtype of the same library.

        Returns
        -------
        container
            The container itself if its values are so already.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.type_as(torch.zeros(1, dtype=torch.float64)).dtype
        torch.float64
        """
        result: Self = cast(self, dtype_of(other))
        return result

    def clone(self) -> Self:
        """Copy the values; autograd follows tensors.

        Returns
        -------
        container
            The same structure over values of its own.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.clone().values is x.values
        False
        """
        result: Self = self._move(copy_of)
        return result

    def contiguous(self) -> Self:
        """Lay the values end to end in memory.

        Returns
        -------
        container
            The container itself if its values are so already.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.contiguous() is x
        True
        """
        result: Self = self._move(contiguous)
        return result

    def detach(self) -> Self:
        """Leave the graph of autograd, as `torch.Tensor.detach`.

        Returns
        -------
        container
            A container that shares the values, detached from the gradient.

        Raises
        ------
        TypeError
            The values are a NumPy array, which has no gradients.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.requires_grad_().detach().requires_grad
        False
        """
        result: Self = self._move(lambda values: tensor(values, "detach").detach())
        return result

    def numpy(self) -> Self:
        """Convert to NumPy arrays; memory is shared where possible.

        Returns
        -------
        container
            The container itself if its values are so already. Values on a device are copied to the host, and
            dtypes that NumPy lacks become float32.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.numpy().values
        array([3., 1., 4.], dtype=float32)
        """
        result: Self = self._move(as_numpy)
        return result

    def torch(self) -> Self:
        """Convert to tensors; memory is shared where possible.

        Returns
        -------
        container
            The container itself if its values are so already.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged([3, 1, 4], [1, 2])
        >>> x.torch().values
        tensor([3, 1, 4])
        """
        result: Self = self._move(as_tensor)
        return result

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Self:
        """Ask autograd to follow the values, in place, as `torch.Tensor.requires_grad_`.

        Parameters
        ----------
        requires_grad
            False stops autograd.

        Returns
        -------
        container
            The container itself.

        Raises
        ------
        TypeError
            The values are a NumPy array, which has no gradients.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.requires_grad_().requires_grad
        True
        """
        result: Self = follow(self, requires_grad)
        return result

    def retain_grad(self) -> None:
        """Keep the gradient of values that are not a leaf in `grad`.

        Returns
        -------
        None


        Raises
        ------
        TypeError
            The values are a NumPy array, which has no gradients.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> y = x.requires_grad_() * 2
        >>> y.retain_grad()
        """
        return retain_grad(self)

    def backward(
        self, gradient: Any = None, retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
    ) -> None:
        """Compute gradients, as `torch.Tensor.backward`.

        Parameters
        ----------
        gradient
            The gradient of the values: a container of the same structure, or a tensor. None is for a single
            number.
        retain_graph, create_graph
            As `torch.Tensor.backward` takes them.

        Returns
        -------
        None


        Raises
        ------
        TypeError
            The values are a NumPy array, which has no gradients.
        ValueError
            There is more than one number, and no gradient; or it has another shape.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> (x.requires_grad_() * 2).backward(x.detach())
        >>> x.grad.values
        tensor([6., 2., 8.])
        """
        return backward(self, gradient, retain_graph, create_graph)

    def copy_(self, source: Any, non_blocking: builtins.bool = False) -> Self:
        """Write the values of another container into this one, in place, as `torch.Tensor.copy_`.

        Parameters
        ----------
        source
            A container of the same structure, or an array of the shape of the values.
        non_blocking
            As `to` takes it.

        Returns
        -------
        container
            The container itself.

        Raises
        ------
        ValueError
            The structure or the shape differs; nothing is written then.

        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.copy_(x * 2).tolist()
        [[6.0], [2.0, 8.0]]
        """
        result: Self = write(self, source, non_blocking)
        return result

    def is_floating_point(self) -> builtins.bool:
        """Whether the values are floats.

        Returns
        -------
        bool


        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.is_floating_point()
        True
        """
        return is_float(self._rows())

    def is_complex(self) -> builtins.bool:
        """Whether the values are complex numbers.

        Returns
        -------
        bool


        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.is_complex()
        False
        """
        return is_complex(self._rows())

    def numel(self) -> builtins.int:
        """The number of entries in the values, trailing axes included.

        Returns
        -------
        int


        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.numel()
        3
        """
        return math.prod(self._rows().shape)

    def element_size(self) -> builtins.int:
        """The size of one number in bytes.

        Returns
        -------
        int


        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.element_size()
        4
        """
        return builtins.int(self._rows().dtype.itemsize)

    def tolist(self) -> list[Any]:
        """Convert to nested lists of Python numbers, in the original order.

        Returns
        -------
        list


        Examples
        --------
        >>> import torch
        >>> x = vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])
        >>> x.tolist()
        [[3.0], [1.0, 4.0]]
        """
        return nested_lists(self)
