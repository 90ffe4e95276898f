"""Containers as trees of torch, optree and JAX: what they hold are the leaves, their structure is not.

So `tree_map`, torch.func, checkpoints, `jax.jit` and everything else that walks through lists and dicts walks
through containers. A library is told of the classes once both are there, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from varlen._watch import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

_CLASSES: list[type[Tree]] = []
_TELLERS: list[Callable[[type[Tree]], None]] = []


class Tree:
    """A base of containers: each of its subclasses is a tree to other libraries."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _CLASSES.append(cls)
        for register in _TELLERS:
            register(cls)

    def _leaves(self) -> dict[str, Any]:
        """What the container holds, by name."""
        raise NotImplementedError

    def _with_leaves(self, leaves: Sequence[Any]) -> Self:
        """The same structure that holds other things, whatever they are."""
        raise NotImplementedError

    def _parts(self) -> Sequence[Any]:
        """What the structure is made of."""
        raise NotImplementedError


class Structure:
    """A container without what it holds; those of containers that nest alike are equal."""

    __slots__ = ("template",)

    def __init__(self, template: Tree) -> None:
        self.template = template

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and nest_alike(self.template, other.template)

    def __hash__(self) -> int:
        return hash((type(self.template), len(self.template._parts())))

    def __repr__(self) -> str:
        return f"{type(self.template).__name__}({', '.join(map(str, self.template._parts()))})"


def nest_alike(a: Tree, b: Tree) -> bool:
    """Whether two containers have the same class and structure."""
    if type(a) is not type(b):
        return False
    x, y = a._parts(), b._parts()
    return len(x) == len(y) and all(map(_equal, x, y))


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if hasattr(a, "tobytes"):
        return bool(a.shape == b.shape and (a == b).all())
    return bool(a == b)


def flatten(x: Tree) -> tuple[list[Any], Structure]:
    """What a container holds, and its structure."""
    leaves = list(x._leaves().values())
    return leaves, Structure(x._with_leaves([None] * len(leaves)))


def unflatten(structure: Structure, leaves: Any) -> Tree:
    """A container of a structure."""
    return structure.template._with_leaves(list(leaves))


def _tell_torch(pytree: Any) -> None:
    if not hasattr(pytree, "register_pytree_node"):
        return

    def flatten_with_keys(x: Tree) -> tuple[list[Any], Structure]:
        leaves, structure = flatten(x)
        key = pytree.MappingKey if isinstance(x, Mapping) else pytree.GetAttrKey
        return list(zip(map(key, x._leaves()), leaves, strict=True)), structure

    _tell_each(
        lambda cls: pytree.register_pytree_node(
            cls,
            flatten,
            lambda leaves, structure: unflatten(structure, leaves),
            serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
            flatten_with_keys_fn=flatten_with_keys,
        )
    )


def _tell_jax(tree_util: Any) -> None:
    _tell_each(lambda cls: tree_util.register_pytree_node(cls, flatten, unflatten))


def _tell_optree(optree: Any) -> None:
    everywhere = vars(optree.registry)["__GLOBAL_NAMESPACE"]
    _tell_each(lambda cls: optree.register_pytree_node(cls, flatten, unflatten, namespace=everywhere))


def _tell_each(register: Callable[[type[Tree]], None]) -> None:
    """Register all classes, and those that are still to come."""
    _TELLERS.append(register)
    for cls in _CLASSES:
        register(cls)


def tell_libraries() -> None:
    """Register the containers with libraries of trees, now or when they are imported."""
    tell("torch.utils._pytree", _tell_torch)
    tell("jax.tree_util", _tell_jax)
    tell("optree", _tell_optree)
