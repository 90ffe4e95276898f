"""Writes the files that are made of declarations; `--check` says which differ, and writes none.

python python/faces [--check]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import backends
import by_hand
import data
import dims
import frontend
import in_place
import layers
import methods
import partitions
import reduce
import render
import steps
import tensor
import thinc_ops
import values
from frontend import Face
from verb import ByHand, Verb

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/varlen"
MARKDOWN = "<!-- python/faces, {}: {} -->\n"
CODE = "# python/faces, {}: {}\n"
RESTRUCTURED = ".. python/faces, {}: {}\n"
VERBS: tuple[Verb, ...] = (*reduce.VERBS, *in_place.VERBS)

OPS = "Arrays and lengths in, arrays out: the verbs of the package as plain functions."
SEQUENCE = "Paddle's LoD family at any depth: ops on the sequences of any level, and their gradients."
FRONTEND = """Functions of RETURNN's frontend: `import varlen.returnn.frontend as rf`.

Names and arguments are RETURNN's. The functions take `Data` as well as `Tensor`, and return `Tensor`.
Padding is neither stored nor read, whatever the arguments about masks.
"""
ARRAYS = "The verbs on NumPy arrays: those of the core, and the modules of `numpy/` that do more."
TENSORS = "The verbs on torch tensors, one module a noun. Reached once a tensor has come: it imports torch."
DIMS = """Named axes: dims with an exact algebra and lengths of any shape.

Examples
--------
>>> time = Dim("time", lengths=[3, 0, 2])
>>> (2 * time + 1).lengths
array([7, 1, 5])
>>> (time + 2) - 2 == time
True
"""

FUTURE = "from __future__ import annotations\n"


def calls(verbs: Iterable[Verb], methods: Iterable[Face] = ()) -> str:
    """The imports of what verbs and methods call, from the files of `varlen.ops` that have it."""
    home = {name: noun for noun, names in by_hand.FUNCTIONS.items() for name in names.split()}
    pairs = [(verb.noun, verb.call) for verb in verbs] + [(home[face.name], face.call) for face in methods]
    names: dict[str, list[str]] = {}
    for noun, name in sorted({(noun, call.partition("(")[0]) for noun, call in pairs}):
        names.setdefault(noun, []).append(name)
    return "\n".join(f"from varlen.ops.{noun} import {', '.join(names[noun])}" for noun in names)


def functions(noun: str, docstring: str) -> str:
    """A module of `varlen.ops.faces`."""
    verbs = [verb for verb in VERBS if verb.noun == noun]
    literal = "Literal, " if any(verb.gives_places for verb in verbs) else ""
    is_reduce = any(verb.kind == "reduce" for verb in verbs)
    base = "    from varlen._core import RaggedBase\n" if is_reduce else ""
    types = "ArrayT, Axes, Lengths, Rows, RowsT" if is_reduce else "Lengths, RaggedT, Rows, RowsT"
    entries = "\n".join(f'    "{name}",' for name in sorted(verb.function for verb in verbs))
    head = f"""{FUTURE}
from typing import TYPE_CHECKING, Any, {literal}overload

{calls(verbs)}

if TYPE_CHECKING:
    from collections.abc import Sequence

{base}    from varlen.backends.values import {types}

__all__ = [
{entries}
]"""
    return render.module(docstring, head, map(render.function, verbs))


def ragged_methods() -> str:
    """`varlen.types.faces`."""
    head = f"""{FUTURE}
from typing import TYPE_CHECKING, Any, Literal, overload

from varlen._core import RaggedBase
from varlen.backends.values import ArrayT
{calls(VERBS, methods.METHODS)}
from varlen.types.torch_keywords import by_torch_keywords

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self, Unpack

    from varlen.backends.values import Axes, RaggedT, RowsLike, SequencesLike
    from varlen.types.torch_keywords import TorchKeywords"""
    kind = """class VerbMethods(RaggedBase[ArrayT]):
    \"""Methods of `varlen.Ragged`, which inherits them.

    `level` names the level whose sequences an op takes as its units, with all that nests below; -1 is the
    innermost. Reductions give an array (n, ...), or a Ragged of the levels above if there are any. Instead of
    `level`, `axis` counts axes as in NumPy. `empty` is the result for a sequence without rows. Ops that move
    take whole sequences of the level below if `level` is not the innermost. Ops that order see all numbers of
    a sequence, and drop its inner borders; NaN comes last, and equal numbers keep their order. The functions
    of `varlen.ops` say more.
    \"""

    __slots__ = ()

"""
    parts = (*map(render.method, VERBS), *(render.face(face, "Ragged") for face in methods.METHODS))
    return render.module("Verbs as methods of a Ragged.", head, [kind + "\n".join(parts)])


def value_members() -> str:
    """`varlen.types.tensor_methods`."""
    head = f"""{FUTURE}
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

    from varlen.backends.values import DTypes"""
    kind = """class TensorMethods(DeviceMethods):
    \"""Methods of the containers, which inherit them: what torch's tensors have, of their values.

    Arrays take those that have a meaning for them; those of autograd refuse them.

    Examples
    --------
    >>> vl.Ragged([3, 1, 4], [1, 2]).float().dtype
    dtype('float32')
    \"""

    __slots__ = ()

    def _convert(self, dtype: DTypes) -> Self:
        return cast(self, dtype)

    @property
    def requires_grad(self) -> builtins.bool:
        \"""Whether autograd follows the values; always False for arrays.\"""
        return builtins.bool(getattr(self._rows(), "requires_grad", False))

    @property
    def grad(self) -> Self | None:
        \"""The gradient of the values under the same structure; None if there is none.\"""
        grad = getattr(self._rows(), "grad", None)
        return None if grad is None else self._with_rows(grad)

    @property
    def grad_fn(self) -> Node | None:
        \"""The node of autograd that made the values, or None.\"""
        return getattr(self._rows(), "grad_fn", None)

    @property
    def is_leaf(self) -> builtins.bool:
        \"""Whether no operation that autograd follows made the values; always True for arrays.\"""
        return builtins.bool(getattr(self._rows(), "is_leaf", True))

    @property
    def is_nested(self) -> builtins.bool:
        \"""False, as torch means it of its own nested tensors.\"""
        return False

    @property
    def is_cuda(self) -> builtins.bool:
        \"""Whether the values lie on a CUDA device.\"""
        return self.device.startswith("cuda")

    @property
    def is_meta(self) -> builtins.bool:
        \"""Whether the values are a shape alone, on the device "meta".\"""
        return self.device == "meta"

"""
    parts = [kind + "\n".join(render.face(face, "Self") for face in values.METHODS)]
    return render.module("Members of torch's tensors as members of the containers.", head, parts)


def data_methods() -> str:
    """`varlen.dims.faces`."""
    head = f"""{FUTURE}
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic

from varlen.backends.values import ArrayT
from varlen.dims import export, make, named_arrays
from varlen.dims.axes import every_place, first
from varlen.dims.ops.combine import compatible_to
from varlen.dims.ops.reduce import DEFAULT, reduce

if TYPE_CHECKING:
    import numpy as np
    import xarray

    from varlen._core import Dim
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape
    from varlen.types import Ragged"""
    kind = """class DeclaredMethods(Generic[ArrayT]):
    \"""Methods of `varlen.Data`, which inherits them.\"""

    __slots__: tuple[str, ...] = ()

"""
    methods = (
        *(render.face(face, "Data", "cls: Any") for face in data.CONSTRUCTORS),
        *(render.face(face, "Data", "self: Any") for face in data.METHODS),
        *(render.data_method(verb) for verb in VERBS if verb.data is not None),
    )
    text = "Verbs and functions of dims as methods of a Data."
    return render.module(text, head, [kind + "\n".join(methods)])


def dict_of(name: str, comment: str, items: dict[str, str], type: str = "dict[str, str]") -> str:
    """A dict in a module, with a comment in front."""
    lines = "\n".join(f'    "{key}": {value},' for key, value in items.items())
    return f"#: {comment}\n{name}: {type} = {{\n{lines}\n}}\n"


def function_of(verb: Verb) -> str:
    """What computes a fold that is no op of `reduce`."""
    is_composed = verb.by == "composed"
    return f"compositions.{verb.name}" if is_composed else f'compositions.own_verb("{verb.by}")'


def folds() -> str:
    """`varlen.ops.faces.folds`: what gives an array of one dtype for rows of it, by its name."""
    fold_verbs = [verb for verb in VERBS if verb.call.startswith(("reduce_rows(", "extreme("))]
    empties = {verb.name: verb.data.empty for verb in fold_verbs if verb.data}
    extremes = [verb.name for verb in fold_verbs if verb.is_extreme]
    parts = [
        "from typing import Any\n\nfrom varlen.ops import compositions\n",
        '__all__ = ["COMPOSED", "EMPTY", "EMPTY_OF_DIMS", "EXTREMES", "UFUNCS"]\n',
        dict_of(
            "EMPTY",
            "Each fold, and what it gives for a sequence without rows: None refuses one.",
            {verb.name: verb.default_of("empty") or "None" for verb in fold_verbs},
            "dict[str, Any]",
        ),
        dict_of(
            "EMPTY_OF_DIMS",
            "The same of no positions of dims, but for extremes.",
            {name: empty for name, empty in empties.items() if name not in extremes},
            "dict[str, Any]",
        ),
        dict_of(
            "EXTREMES",
            "What extremes give for no positions of dims, if they are of floats.",
            {name: empties[name] for name in extremes},
            "dict[str, float]",
        ),
        dict_of(
            "UFUNCS",
            "The ufuncs that bring two results together.",
            {verb.name: f'"{verb.ufunc}"' for verb in fold_verbs if verb.ufunc},
        ),
        dict_of(
            "COMPOSED",
            "Those that are no op of `reduce`: other verbs express them, or one of their own.",
            {verb.name: function_of(verb) for verb in fold_verbs if not verb.by.startswith("reduce")}
            | {f"a{name}": f"compositions.a{name}" for name in extremes},
            "dict[str, Any]",
        ),
    ]
    return render.module("The folds: what comes of no rows, and what computes them.", "\n".join(parts), [])


def namesakes() -> str:
    """`varlen.types.namesakes`: functions of NumPy and torch that are verbs of the same meaning."""

    def parameters(first: str, library: str) -> dict[str, str]:
        return {
            name: f'"{first} {getattr(verb, library)}"'
            for verb in VERBS
            if getattr(verb, library)
            for name in (verb.name, *verb.aliases)
        }

    verbs = [verb for verb in VERBS if verb.numpy or verb.torch]
    rows = ", ".join(f'"{verb.name}"' for verb in verbs if verb.kind == "in place")
    methods = {name: f'"{verb.name}"' for verb in verbs for name in (verb.name, *verb.aliases)}
    ufuncs = {
        f"{verb.ufunc}.{'reduce' if verb.kind == 'reduce' else 'accumulate'}": f'"{verb.name}"'
        for verb in VERBS
        if verb.ufunc
    }
    parts = [
        dict_of("NUMPY", "The parameters of NumPy's functions.", parameters("a", "numpy")),
        dict_of("TORCH", "The parameters of torch's functions.", parameters("input", "torch")),
        dict_of("METHODS", "The methods of a Ragged that both are.", methods),
        dict_of("UFUNCS", "Those that methods of ufuncs are.", ufuncs),
        f"#: Those that give a row for each row.\nKEEP_ROWS = ({rows})\n",
    ]
    return render.module("Functions of NumPy and torch that are verbs here.", "\n".join(parts), [])


def check_verbs() -> None:
    """Refuse declarations that are not listed, and those whose verb nothing computes."""
    for module in (reduce, in_place):
        for name, verb in vars(module).items():
            if isinstance(verb, Verb) and verb not in module.VERBS:
                raise ValueError(f"{verb.name}: {name} is not in VERBS of faces/{module.__name__}.py")
    verb_names = {"composed", *backends.verbs()}
    compositions = backends.functions(PACKAGE / "ops/compositions.py")
    for verb in VERBS:
        if verb.by not in verb_names:
            raise ValueError(
                f"{verb.name}: by={verb.by!r} is no verb of backends/table.py, nor 'composed'; "
                "python/README.md says under 'With a kernel' what to write"
            )
        if verb.by == "composed" and verb.name not in compositions:
            raise ValueError(f"{verb.name}: by='composed', but ops/compositions.py has none of that name")


def package(name: str, docstring: str, by_hand: dict[str, str], nouns: dict[str, list[str]]) -> str:
    """The `__init__` of a package: what files of it give that are written by hand, and those that are not."""
    home = nouns | {noun: names.split() for noun, names in by_hand.items()}
    return render.package(
        docstring,
        {noun if noun.startswith("varlen.") else f"{name}.{noun}": names for noun, names in home.items()},
        is_public=True,
    )


def packages() -> dict[Path, str]:
    """The `__init__` of each package whose names are listed."""
    ops: dict[str, list[str]] = {}
    for verb in VERBS:
        ops.setdefault(f"faces.{verb.noun}", []).append(verb.function)
    frontend_names = {"faces": ["dot", *(face.name for face in frontend.FACES)]}
    arguments: tuple[tuple[str, str, dict[str, str], dict[str, list[str]]], ...] = (
        ("varlen.dims", DIMS, by_hand.DIMS, {"ops.faces": [face.name for face in dims.FUNCTIONS]}),
        ("varlen.ops", OPS, by_hand.FUNCTIONS, ops),
        ("varlen.returnn.frontend", FRONTEND, by_hand.FRONTEND, frontend_names),
        ("varlen.sequence", SEQUENCE, by_hand.SEQUENCE, {"faces": [face.name for face in steps.STEPS]}),
    )
    return {PACKAGE.parent.joinpath(*item[0].split("."), "__init__.py"): package(*item) for item in arguments}


def top_names() -> str:
    """The names of `varlen`, the sequence ops among them."""
    home = {module: names.split() for module, names in by_hand.TOP.items()}
    names = [*" ".join(by_hand.SEQUENCE.values()).split(), *(face.name for face in steps.STEPS)]
    home["varlen.sequence"] += [name for name in names if name.startswith("sequence_")]
    return render.lazy(home, by_hand.TOP_OWN.split(), by_hand.TOP_MODULES.split(), {"open"})


def thinc_names() -> str:
    """The names of `varlen.thinc`."""
    home = {f"varlen.thinc.{module}": names.split() for module, names in by_hand.THINC.items()}
    return render.lazy(home, [], [], set())


def frontend_functions() -> str:
    """`varlen.returnn.frontend.faces`."""
    head = f"""{FUTURE}
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from varlen import dims as _dims
from varlen.dims import Data, Dim
from varlen.returnn.frontend.convert import FLOAT, INT, PLACE, number, on_device, with_roles
from varlen.returnn.frontend.math import combine, compare
from varlen.returnn.frontend.operands import check_operand, check_tensor
from varlen.returnn.frontend.random import random
from varlen.returnn.frontend.reduce import reduce
from varlen.returnn.frontend.window import pool, pool1d
from varlen.returnn.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen.returnn.frontend.random import SeedLike"""
    parts = [*(render.face(face, is_frontend=True) for face in frontend.FACES), "dot = matmul\n"]
    return render.module("Verbs of named dims, as RETURNN's frontend names them.", head, parts)


def tensor_methods() -> str:
    """`varlen.returnn.faces`."""
    head = f"""{FUTURE}
from typing import TYPE_CHECKING

from varlen.dims import Dim
from varlen.returnn.axes import AxesBase

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.dims.axes import Axis
    from varlen.returnn.tensor import Template"""
    kind = """class Axes(AxesBase):
    \"""Members of tensors and templates, which inherit them.\"""

    __slots__ = ()

"""
    parts = [kind + "\n".join(render.face(method, "Tensor") for method in tensor.METHODS)]
    return render.module("Members of RETURNN's tensors that others express.", head, parts)


def thinc_methods() -> str:
    """`varlen.thinc.faces`."""
    head = f"""{FUTURE}
from typing import TYPE_CHECKING

from varlen.thinc.levels import expand_rows, level_of

if TYPE_CHECKING:
    from varlen.backends.table import Backend
    from varlen.thinc.levels import Array, Ints"""
    kind = """class DeclaredOps:
    \"""Methods of `varlen.thinc.Ops`, which inherits them.\"""

    _verbs: Backend

"""
    parts = [kind + "\n".join(render.face(op, "NumpyOps") for op in thinc_ops.OPS)]
    return render.module("Verbs of the backends, as Thinc's ops name them.", head, parts)


def partition_methods() -> str:
    """`varlen.tf.faces`."""
    head = f"""{FUTURE}
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen._core import Level, RaggedBase
from varlen.backends.values import ArrayT
from varlen.levels import level_from, nested_levels
from varlen.ops.support.inputs import nest_rows
from varlen.tf.levels import level_of_ids
from varlen.types import Ragged

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from varlen.tf.levels import Ints"""
    kind = """class DeclaredPartitions(Ragged[ArrayT]):
    \"""Members of a `RaggedTensor`, which inherits them.\"""

    __slots__ = ()

"""
    methods = (
        *(render.face(face, "RaggedTensor", "cls") for face in partitions.CONSTRUCTORS),
        *(render.face(face, "RaggedTensor") for face in partitions.VIEWS),
    )
    return render.module("Levels under TensorFlow's names.", head, [kind + "\n".join(methods)])


def layer_functions() -> str:
    """`varlen.transforms.faces`."""
    head = f"""{FUTURE}
from functools import partial
from typing import Any

from varlen.arguments import as_int
from varlen.transforms import nested
from varlen.transforms.combine import join_layers, run_add, run_concatenate, run_residual
from varlen.transforms.conversions import convert
from varlen.transforms.convert import as_array, as_array2d, as_list, as_padded, as_ragged
from varlen.transforms.layer import Layer, layer_around
from varlen.transforms.reduce import reduce_rows
from varlen.transforms.wrap import wrap"""
    return render.module(
        "Layers that reduce or convert, and layers around layers.", head, map(render.face, layers.LAYERS)
    )


def step_functions() -> str:
    """`varlen.sequence.faces`."""
    head = f"""{FUTURE}
from typing import TYPE_CHECKING, Any

from varlen.sequence.pool import backprop_sequence_pool, sequence_pool

if TYPE_CHECKING:
    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, RaggedT"""
    return render.module("The first and the last step of sequences.", head, map(render.face, steps.STEPS))


def dims_functions() -> str:
    """`varlen.dims.ops.faces`."""
    head = f"""{FUTURE}
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.dims.ops.make_values import fill, fill_like
from varlen.dims.ops.scan import scan
from varlen.dims.ops.softmax import shares

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen._core import Dim
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape"""
    text = "Running numbers along a dim, softmax, and numbers that are all the same."
    return render.module(text, head, map(render.face, dims.FUNCTIONS))


def with_regions(path: Path, marker: str, bodies: dict[str, str]) -> str:
    """The text of a page with another region between the markers of each name."""
    text = path.read_text()
    for name, body in bodies.items():
        begin, end = (marker.format(name, where) for where in ("begin", "end"))
        head, _, rest = text.partition(begin)
        _, mark, tail = rest.partition(end)
        if not mark:
            raise ValueError(f"{path}: expected a region between {begin.strip()} and its end")
        text = f"{head}{begin}\n{body}\n{end}{tail}"
    return text


def with_rows(path: Path, rows: dict[str, str]) -> str:
    """The text of a page whose rows of a table name other verbs; what follows them stays."""
    text = path.read_text()
    for label, verbs in rows.items():
        text, count = re.subn(rf"(?m)^\| {label} \| [^;|]*", f"| {label} | {verbs}", text)
        if count != 1:
            raise ValueError(f"{path}: expected one row {label!r} of a table, got {count}")
    return text


def verbs_of(kind: str) -> str:
    """The verbs of one kind, as a sentence has them."""
    return ", ".join(f"`{verb.name}`" for verb in VERBS if verb.kind == kind)


def table() -> str:
    """The table of verbs."""
    groups = {kind: [verb for verb in VERBS if verb.kind == kind] for kind in ("reduce", "in place")}
    rows: tuple[Verb | ByHand, ...] = (
        *groups["reduce"],
        *by_hand.REDUCE,
        *groups["in place"],
        *by_hand.IN_PLACE,
        *by_hand.OTHERS,
    )
    return render.table(rows)


def page(home: str, names: Iterable[str]) -> str:
    """The directive that documents some names."""
    return f".. names:: {home}\n\n   {' '.join(names)}\n"


def pages() -> dict[Path, str]:
    """The pages of the manual that list verbs."""
    docs = ROOT / "docs"
    levels, graphs = docs / "concepts/levels.md", docs / "guides/torch.md"
    methods, ops = docs / "reference/ragged_verbs.rst", docs / "reference/ops_compute.rst"
    kinds, nouns = ("reduce", "in place"), ("reduce", "softmax", "scan")
    by_kind = {kind: page("varlen.Ragged", (v.name for v in VERBS if v.kind == kind)) for kind in kinds}
    by_noun = {noun: page("varlen.ops", (v.function for v in VERBS if v.noun == noun)) for noun in nouns}
    return {
        graphs: with_rows(
            graphs, {"one result per sequence": verbs_of("reduce"), "rows in place": verbs_of("in place")}
        ),
        levels: with_regions(levels, MARKDOWN, {"verbs": table()}),
        methods: with_regions(methods, RESTRUCTURED, by_kind),
        ops: with_regions(ops, RESTRUCTURED, by_noun),
    }


def files() -> dict[Path, str]:
    """What each file is to hold."""
    check_verbs()
    folder = PACKAGE / "ops/faces"
    top, thinc = PACKAGE / "__init__.py", PACKAGE / "thinc/__init__.py"
    return {
        **packages(),
        PACKAGE / "backends/arrays.py": render.package(ARRAYS, backends.homes("numpy")),
        PACKAGE / "backends/torch/__init__.py": render.package(TENSORS, backends.homes("torch")),
        folder / "folds.py": folds(),
        folder / "reduce.py": functions("reduce", "Sequences to one row each."),
        folder / "scan.py": functions("scan", "Each row with those before it."),
        folder / "softmax.py": functions("softmax", "Softmax inside sequences, and its logarithm."),
        PACKAGE / "types/faces.py": ragged_methods(),
        PACKAGE / "types/namesakes.py": namesakes(),
        PACKAGE / "types/tensor_methods.py": value_members(),
        PACKAGE / "dims/faces.py": data_methods(),
        PACKAGE / "dims/ops/faces.py": dims_functions(),
        PACKAGE / "sequence/faces.py": step_functions(),
        PACKAGE / "transforms/faces.py": layer_functions(),
        PACKAGE / "tf/faces.py": partition_methods(),
        PACKAGE / "thinc/faces.py": thinc_methods(),
        PACKAGE / "returnn/faces.py": tensor_methods(),
        PACKAGE / "returnn/frontend/faces.py": frontend_functions(),
        top: with_regions(top, CODE, {"names": top_names()}),
        thinc: with_regions(thinc, CODE, {"names": thinc_names()}),
        **pages(),
    }


def main() -> int:
    """Writes or checks."""
    check = "--check" in sys.argv[1:]
    try:
        texts = files()
    except ValueError as error:
        sys.exit(f"python/faces: {error}")
    differ = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    for path in differ:
        print(path.relative_to(ROOT))
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(texts[path])
    return int(check and bool(differ))


if __name__ == "__main__":
    sys.exit(main())
