"""Members of the containers that torch's tensors have: each is that of their values."""

from __future__ import annotations

from frontend import Face

FLOATS = "vl.Ragged(torch.tensor([3.0, 1.0, 4.0]), [1, 2])"
IS_ARRAY = {"TypeError": "The values are a NumPy array, which has no gradients."}
OWN = "The container itself if its values are so already."
#: Methods for a dtype, by NumPy's and torch's name of it.
CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "bool": "bool",
    "int": "int32", "long": "int64", "short": "int16", "byte": "uint8",
}  # fmt: skip


def _member(
    name: str,
    call: str,
    summary: str,
    example: str,
    returns: str = "",
    *,
    arguments: str = "",
    type: str = "Self",
    kind: str = "container",
    texts: dict[str, str] | None = None,
    raises: dict[str, str] | None = None,
    x: str = FLOATS,
    notes: str = "",
) -> Face:
    setup = "    >>> import torch\n" if "torch" in x + example else ""
    return Face(
        name, arguments, summary, call, f"{setup}    >>> x = {x}\n    {example}", texts or {}, returns, type,
        kind=kind, raises=raises or {}, is_any=type == "Self", notes=notes,
    )  # fmt: skip


def _cast(name: str, dtype: str) -> Face:
    return _member(
        name, f'cast(self, "{dtype}")', f"Convert the values to {dtype}, as `torch.Tensor.{name}`.",
        f">>> x.{name}().dtype\n    torch.{dtype}", f"{OWN} Autograd follows tensors.",
        raises={"TypeError": "NumPy has no bfloat16 by itself; ml_dtypes has."} if name == "bfloat16" else {},
    )  # fmt: skip


METHODS = (
    *(_cast(name, dtype) for name, dtype in CASTS.items()),
    _member(
        "type_as", "cast(self, dtype_of(other))", "Convert the values to the dtype of another container.",
        ">>> x.type_as(torch.zeros(1, dtype=torch.float64)).dtype\n    torch.float64", OWN,
        arguments="other: Any", texts={"other": "Anything with a dtype of the same library."},
    ),
    _member(
        "clone", "self._move(copy_of)", "Copy the values; autograd follows tensors.",
        ">>> x.clone().values is x.values\n    False", "The same structure over values of its own.",
    ),
    _member(
        "contiguous", "self._move(contiguous)", "Lay the values end to end in memory.",
        ">>> x.contiguous() is x\n    True", OWN,
    ),
    _member(
        "detach", 'self._move(lambda values: tensor(values, "detach").detach())',
        "Leave the graph of autograd, as `torch.Tensor.detach`.",
        ">>> x.requires_grad_().detach().requires_grad\n    False",
        "A container that shares the values, detached from the gradient.", raises=IS_ARRAY,
    ),
    _member(
        "numpy", "self._move(as_numpy)", "Convert to NumPy arrays; memory is shared where possible.",
        ">>> x.numpy().values\n    array([3., 1., 4.], dtype=float32)",
        f"{OWN} Values on a device are copied to the host, and dtypes that NumPy lacks become float32.",
    ),
    _member(
        "torch", "self._move(as_tensor)", "Convert to tensors; memory is shared where possible.",
        ">>> x.torch().values\n    tensor([3, 1, 4])", OWN, x="vl.Ragged([3, 1, 4], [1, 2])",
    ),
    _member(
        "requires_grad_", "follow(self, requires_grad)",
        "Ask autograd to follow the values, in place, as `torch.Tensor.requires_grad_`.",
        ">>> x.requires_grad_().requires_grad\n    True", "The container itself.",
        arguments="requires_grad: builtins.bool = True",
        texts={"requires_grad": "False stops autograd."}, raises=IS_ARRAY,
    ),
    _member(
        "retain_grad", "retain_grad(self)",
        "Keep the gradient of values that are not a leaf in `grad`.",
        ">>> y = x.requires_grad_() * 2\n    >>> y.retain_grad()", type="None", kind="None", raises=IS_ARRAY,
    ),
    _member(
        "backward", "backward(self, gradient, retain_graph, create_graph)",
        "Compute gradients, as `torch.Tensor.backward`.",
        ">>> (x.requires_grad_() * 2).backward(x.detach())\n    >>> x.grad.values\n    tensor([6., 2., 8.])",
        type="None", kind="None",
        arguments="gradient: Any = None, retain_graph: builtins.bool | None = None, "
        "create_graph: builtins.bool = False",
        texts={
            "gradient": "The gradient of the values: a container of the same structure, or a tensor. None is "
            "for a single number.",
            "retain_graph, create_graph": "As `torch.Tensor.backward` takes them.",
        },
        raises={
            **IS_ARRAY,
            "ValueError": "There is more than one number, and no gradient; or it has another shape.",
        },
    ),
    _member(
        "copy_", "write(self, source, non_blocking)",
        "Write the values of another container into this one, in place, as `torch.Tensor.copy_`.",
        ">>> x.copy_(x * 2).tolist()\n    [[6.0], [2.0, 8.0]]", "The container itself.",
        arguments="source: Any, non_blocking: builtins.bool = False",
        texts={
            "source": "A container of the same structure, or an array of the shape of the values.",
            "non_blocking": "As `to` takes it.",
        },
        raises={"ValueError": "The structure or the shape differs; nothing is written then."},
    ),
    _member(
        "is_floating_point", "is_float(self._rows())", "Whether the values are floats.",
        ">>> x.is_floating_point()\n    True", type="builtins.bool", kind="bool",
    ),
    _member(
        "is_complex", "is_complex(self._rows())", "Whether the values are complex numbers.",
        ">>> x.is_complex()\n    False", type="builtins.bool", kind="bool",
    ),
    _member(
        "numel", "math.prod(self._rows().shape)",
        "The number of entries in the values, trailing axes included.",
        ">>> x.numel()\n    3", type="builtins.int", kind="int",
    ),
    _member(
        "element_size", "builtins.int(self._rows().dtype.itemsize)", "The size of one number in bytes.",
        ">>> x.element_size()\n    4", type="builtins.int", kind="int",
    ),
    _member(
        "tolist", "nested_lists(self)", "Convert to nested lists of Python numbers, in the original order.",
        ">>> x.tolist()\n    [[3.0], [1.0, 4.0]]", type="list[Any]", kind="list",
    ),
)  # fmt: skip
