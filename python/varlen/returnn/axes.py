"""Members of RETURNN's tensors about axes, for tensors with and without values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.arguments import as_bool, as_int, as_list
from varlen.dims import AmbiguousAxisError, Dim
from varlen.dims.axes import place, places
from varlen.dims.make import check_dim, check_dims
from varlen.dims.out_shape import implicit_dims
from varlen.errors import error_of, index_error, instance_error, naming, value_error

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.dims.axes import Axis
    from varlen.returnn.tensor import Template


def _place(axis: Any, argument: str, axes: Sequence[int]) -> int:
    k = as_int(axis, argument, -(1 << 62))
    if not -len(axes) <= k < len(axes):
        raise index_error(argument, f"{k} is out of range for {len(axes)} axes", number=k)
    return axes[k]


class AxesBase:
    """Members of RETURNN's tensors that need no values.

    An axis is an index in the order of `dims`, or a description as in `Data.axis`.

    Examples
    --------
    >>> from varlen.returnn import SpatialDim, Tensor, batch_dim
    >>> isinstance(Tensor("x", [batch_dim, SpatialDim("time")], "float32"), AxesBase)
    True
    """

    __slots__ = ()

    if TYPE_CHECKING:
        dims: tuple[Dim, ...]
        sparse_dim: Dim | None
        name: str | None

        def copy_template(self, name: str | None = None, *, dtype: Any = None) -> Template: ...

    @property
    def _frame(self) -> Any:
        """What knows dims by words: itself, or what stands for it."""
        return self

    def _reorder(self, dims: Sequence[Dim]) -> Self:
        """The same over its dims in another order."""
        raise NotImplementedError

    def _axis_of(self, word: str) -> int | None:
        indices = places(self._frame, f"{word}?")
        return self.dims.index(self._frame._shape.dims[indices[0]]) if indices else None

    def _require_tensor(self, other: object) -> Any:
        """Another tensor."""
        if not isinstance(other, AxesBase):
            raise instance_error("other", "a Tensor or a Template", other)
        return other

    def _number(self, axis: Any, argument: str = "axis") -> int:
        if isinstance(axis, (str, Dim)):
            with naming(axis=argument):
                return self.get_axis_from_description(axis)
        return _place(axis, argument, range(len(self.dims)))

    @property
    def dim_tags(self) -> tuple[Dim, ...]:
        """The dims, under their older name."""
        return self.dims

    @property
    def batch_ndim(self) -> int:
        """The number of dims, including the batch."""
        return len(self.dims)

    @property
    def batch_shape(self) -> tuple[int | None, ...]:
        """The size of each dim; None for the batch and where lengths differ."""
        return tuple([None if dim.kind == "batch" else dim.size for dim in self.dims])

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes of the dims without the batch, as in `batch_shape`."""
        return tuple([dim.size for dim in self.dims if dim.kind != "batch"])

    @property
    def batch_dim_axis(self) -> int | None:
        """The index of the batch dim; None without one."""
        return self._axis_of("B")

    @property
    def time_dim_axis(self) -> int | None:
        """The index of the time dim; None without one."""
        return self._axis_of("T")

    @property
    def feature_dim_axis(self) -> int | None:
        """The index of the feature dim; None without one."""
        return self._axis_of("F")

    @property
    def feature_dim_or_sparse_dim(self) -> Dim | None:
        """The dim of the classes, else of the features; None without either."""
        axis = self.feature_dim_axis if self.sparse_dim is None else None
        return self.sparse_dim if axis is None else self.dims[axis]

    @property
    def dim(self) -> int | None:
        """The number of features or classes; None without either."""
        feature = self.feature_dim_or_sparse_dim
        return None if feature is None else feature.size

    @property
    def is_batch_major(self) -> bool:
        """Whether the batch comes first."""
        return self.batch_dim_axis == 0

    @property
    def is_time_major(self) -> bool:
        """Whether the time comes first."""
        return self.time_dim_axis == 0

    def get_dim_tag_from_description(self, axis: Axis) -> Dim:
        """Look up a dim by its description.

        Parameters
        ----------
        axis
            The description, as in `Data.axis`.

        Returns
        -------
        Dim
            The dim, with its lengths in this tensor.

        Raises
        ------
        IndexError
            There is no such dim.
        AmbiguousAxisError
            Several dims match.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_dim_tag_from_description("F") == feature
        True
        """
        frame = self._frame
        tag: Dim = frame._shape.dims[place(frame, axis)]
        return tag

    def get_axis_from_description(self, axis: Axis) -> int:
        """Look up the index of a dim by its description.

        Parameters
        ----------
        axis
            The description, as in `Data.axis`.

        Returns
        -------
        int
            The index in `dims`.

        Raises
        ------
        IndexError
            There is no such dim.
        AmbiguousAxisError
            Several dims match.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_axis_from_description("T"), x.get_axis_from_description(feature)
        (1, 2)
        """
        return self.dims.index(self.get_dim_tag_from_description(axis))

    def get_axes_from_description(self, axes: Axis | Sequence[Axis] | None) -> list[int]:
        """Look up the indices of dims by their description.

        Parameters
        ----------
        axes
            The descriptions, as in `Data.axes`; None for none.

        Returns
        -------
        list of int
            In the order of `axes`.

        Raises
        ------
        IndexError
            A dim is missing.
        AmbiguousAxisError
            A description of one dim matches several.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_axes_from_description("except_batch"), x.get_axes_from_description([feature, "B"])
        ([1, 2], [2, 0])
        """
        frame = self._frame
        if axes is None or (isinstance(axes, str) and not axes):
            return []
        indices = places(frame, axes, "axes")
        return [self.dims.index(frame._shape.dims[k]) for k in indices]

    def get_axes(
        self, exclude_time: bool = False, exclude_batch: bool = False, exclude_feature: bool = False
    ) -> list[int]:
        """The indices of the dims, without some.

        Parameters
        ----------
        exclude_time, exclude_batch, exclude_feature
            Whether to leave out these dims.

        Returns
        -------
        list of int
            Ascending.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_axes(exclude_time=True)
        [0, 2]
        """
        words = {
            "T": as_bool(exclude_time, "exclude_time"),
            "B": as_bool(exclude_batch, "exclude_batch"),
            "F": as_bool(exclude_feature, "exclude_feature"),
        }
        drop_axes = [self._axis_of(word) for word, is_gone in words.items() if is_gone]
        return [k for k in range(len(self.dims)) if k not in drop_axes]

    def get_dynamic_axes(self) -> list[int]:
        """The indices of the dims whose lengths differ, without the batch.

        Returns
        -------
        list of int
            Ascending.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_dynamic_axes()
        [1]
        """
        return [k for k, dim in enumerate(self.dims) if dim.kind != "batch" and dim.size is None]

    def get_spatial_batch_axes(self) -> list[int]:
        """The indices of the dims, without the batch and the features.

        Returns
        -------
        list of int
            Ascending.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_spatial_batch_axes()
        [1]
        """
        return self.get_axes(exclude_batch=True, exclude_feature=True)

    def get_feature_batch_axes(self) -> list[int]:
        """The indices of the feature dims.

        Returns
        -------
        list of int
            One or none.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_feature_batch_axes()
        [2]
        """
        axis = self.feature_dim_axis
        return [] if axis is None else [axis]

    def get_axes_by_tag_name(self, name: str, spatial_only: bool = False) -> list[int]:
        """The indices of the dims whose name contains a text.

        Parameters
        ----------
        name
            The text; upper and lower case are equal.
        spatial_only
            Whether to leave out the batch and the features.

        Returns
        -------
        list of int
            Ascending.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_axes_by_tag_name("e"), x.get_axes_by_tag_name("e", spatial_only=True)
        ([1, 2], [1])
        """
        if not isinstance(name, str):
            raise instance_error("name", "a text", name)
        is_spatial = as_bool(spatial_only, "spatial_only")
        candidates = self.get_spatial_batch_axes() if is_spatial else range(len(self.dims))
        return [k for k in candidates if name.lower() in self.dims[k].name.lower()]

    def get_axis_by_tag_name(self, name: str, spatial_only: bool = False) -> int:
        """The index of the one dim whose name contains a text.

        Parameters
        ----------
        name, spatial_only
            As in `get_axes_by_tag_name`.

        Returns
        -------
        int
            The index in `dims`.

        Raises
        ------
        IndexError
            There is none.
        AmbiguousAxisError
            Several dims match.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_axis_by_tag_name("tim")
        1
        """
        matches = self.get_axes_by_tag_name(name, spatial_only)
        if len(matches) > 1:
            raise error_of(
                AmbiguousAxisError,
                "name",
                f"{name!r} matches several dims, {[self.dims[k].name for k in matches]}",
            )
        if not matches:
            raise index_error("name", f"{name!r} matches none of {[dim.name for dim in self.dims]}")
        return matches[0]

    def get_special_axes_dict(
        self, counted_with_batch_dim: bool = True, only_available: bool = False
    ) -> dict[str, int | None]:
        """The indices of the time and the features, by name.

        Parameters
        ----------
        counted_with_batch_dim
            Whether to count the batch among the dims.
        only_available
            Whether to leave out those that the tensor lacks.

        Returns
        -------
        dict
            `time_dim_axis` and `feature_dim_axis`.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_special_axes_dict(counted_with_batch_dim=False)
        {'time_dim_axis': 0, 'feature_dim_axis': 1}
        """
        axes = {"time_dim_axis": self.time_dim_axis, "feature_dim_axis": self.feature_dim_axis}
        if not as_bool(counted_with_batch_dim, "counted_with_batch_dim"):
            batch_axis = self.batch_dim_axis
            is_behind = {
                k: v is not None and batch_axis is not None and batch_axis < v for k, v in axes.items()
            }
            axes = {k: v - 1 if v is not None and is_behind[k] else v for k, v in axes.items()}
        return {k: v for k, v in axes.items() if v is not None or not only_available}

    def has_axis(self, axis: Axis) -> bool:
        """Whether the tensor has a dim.

        Parameters
        ----------
        axis
            A Dim, or a description of one.

        Returns
        -------
        bool
            True also if the description matches several dims.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.has_axis("feature"), x.has_axis("width")
        (True, False)
        """
        try:
            return bool(places(self._frame, axis))
        except AmbiguousAxisError:
            return True
        except IndexError:
            return False

    def have_dim_tag(self, tag: Dim, include_implicit: bool = True, unique: bool = False) -> bool:
        """Whether the tensor has a dim, as an axis or implicitly.

        Parameters
        ----------
        tag
            The dim.
        include_implicit
            Whether to count the classes and the dims that lengths depend on.
        unique
            Whether the dim must occur exactly once.

        Returns
        -------
        bool
            The dims are compared by identity.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.have_dim_tag(time), x.have_dim_tag(SpatialDim("time"))
        (True, False)
        """
        has_implicit = as_bool(include_implicit, "include_implicit")
        tags = [*self.dims, *(implicit_dims(self._frame) if has_implicit else [])]
        return tags.count(tag) == 1 if as_bool(unique, "unique") else tag in tags

    def is_axis_dynamic(self, axis: Axis | int) -> bool:
        """Whether the lengths of a dim differ.

        Parameters
        ----------
        axis
            Its index, or a description of it; the batch has one length.

        Returns
        -------
        bool
            As `dim.is_dynamic`.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.is_axis_dynamic("T"), x.is_axis_dynamic(2)
        (True, False)
        """
        return self._number(axis) in self.get_dynamic_axes()

    def is_time_axis_dynamic(self) -> bool:
        """Whether the lengths of the time differ.

        Returns
        -------
        bool
            False without a time.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.is_time_axis_dynamic()
        True
        """
        axis = self.time_dim_axis
        return axis is not None and self.is_axis_dynamic(axis)

    def remaining_dims(self, remove: Dim | Sequence[Dim] | None = None) -> list[Dim]:
        """The dims, without some.

        Parameters
        ----------
        remove
            The dims to leave out.

        Returns
        -------
        list of Dim
            The others, in their order.

        Raises
        ------
        IndexError
            The tensor lacks one of them.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.remaining_dims(time) == [batch_dim, feature]
        True
        """
        with naming(axes="remove"):
            drop_axes = [] if remove is None else self.get_axes_from_description(remove)
        return [dim for k, dim in enumerate(self.dims) if k not in drop_axes]

    def copy_transpose(self, perm: Sequence[Dim | int]) -> Self:
        """Copy with the dims in another order.

        Parameters
        ----------
        perm
            All of its dims, or their indices.

        Returns
        -------
        Tensor
            A Tensor that shares the values; a template for a template.

        Raises
        ------
        ValueError
            A dim is missing or repeated.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_transpose([feature, time, batch_dim]).dims == (feature, time, batch_dim)
        True
        """
        order = [self._number(axis, "perm") for axis in as_list(perm, "perm", "dims")]
        if sorted(order) != list(range(len(self.dims))):
            raise value_error(
                "perm", f"expected each of {[dim.name for dim in self.dims]} once, got {list(perm)}"
            )
        return self._reorder([self.dims[k] for k in order])

    def copy_move_axis(self, old_axis: int, new_axis: int) -> Self:
        """Copy with a dim moved to another index.

        Parameters
        ----------
        old_axis, new_axis
            The old and the new index.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_move_axis(0, 1).dims == (time, batch_dim, feature)
        True
        """
        order = list(range(len(self.dims)))
        new = self._number(new_axis, "new_axis")
        order.insert(new, order.pop(self._number(old_axis, "old_axis")))
        return self.copy_transpose(order)

    def copy_swap_axes(self, axis1: int, axis2: int) -> Self:
        """Copy with two dims swapped.

        Parameters
        ----------
        axis1, axis2
            The indices of both dims.

        Returns
        -------
        Tensor
            The other dims stay where they are.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_swap_axes(0, 2).dims == (feature, time, batch_dim)
        True
        """
        a, b = self._number(axis1, "axis1"), self._number(axis2, "axis2")
        order = list(range(len(self.dims)))
        order[a], order[b] = b, a
        return self.copy_transpose(order)

    def _put_first(self, words: str) -> Self:
        """The dims of some letters first, then the others; features last where no letter is theirs."""
        front = [k for k in (self._axis_of(word) for word in words) if k is not None]
        return self.copy_transpose([*front, *[k for k in range(len(self.dims)) if k not in front]])

    def copy_as_bt_or_tb_major(self) -> Self:
        """Copy with batch and time first, in their present order.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> [dim.name for dim in x.copy_with_feature_dim_axis(0).copy_as_bt_or_tb_major().dims]
        ['batch', 'time', 'feature']
        """
        batch, time = self.batch_dim_axis, self.time_dim_axis
        return self._put_first("TB" if batch is not None and time is not None and time < batch else "BT")

    def copy_template_new_dim_tags(
        self, new_dim_tags: Sequence[Dim], name: str | None = None, keep_special_axes: bool = False
    ) -> Template:
        """Copy the template, with other dims.

        Parameters
        ----------
        new_dim_tags
            The new dims.
        name
            The name in messages; unchanged by default.
        keep_special_axes
            Whether "T" and "F" stay at the same indices.

        Returns
        -------
        Template
            Without values.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_template_new_dim_tags([batch_dim]).dims == (batch_dim,)
        True
        """
        dims = check_dims(new_dim_tags, "new_dim_tags")
        return self.copy_template(name)._with_dims(tuple(dims), keep_special_axes)

    def copy_template_replace_dim_tag(
        self, axis: Axis | int, new_dim_tag: Dim, name: str | None = None
    ) -> Template:
        """Copy the template, with one dim replaced.

        Parameters
        ----------
        axis
            Its index, or a description of it.
        new_dim_tag
            The new dim.
        name
            The name in messages; unchanged by default.

        Returns
        -------
        Template
            Without values.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_template_replace_dim_tag(1, FeatureDim("two", 2)).batch_shape
        (None, 2, 4)
        """
        k = self._number(axis)
        check_dim(new_dim_tag, "new_dim_tag")
        dims = [*self.dims[:k], new_dim_tag, *self.dims[k + 1 :]]
        return self.copy_template_new_dim_tags(dims, name, keep_special_axes=True)

    def copy_template_excluding_axis(self, exclude_axis: Axis | int, name: str | None = None) -> Template:
        """Copy the template, without one dim.

        Parameters
        ----------
        exclude_axis
            Its index, or a description of it.
        name
            The name in messages; unchanged by default.

        Returns
        -------
        Template
            Without values.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_template_excluding_axis(0).dims == (time, feature)
        True
        """
        k = self._number(exclude_axis, "exclude_axis")
        return self.copy_template_new_dim_tags([*self.dims[:k], *self.dims[k + 1 :]], name)

    def copy_template_dense(self, name: str | None = None, dtype: Any = None) -> Template:
        """Copy the template, with its classes as features.

        Parameters
        ----------
        name
            The name in messages; unchanged by default.
        dtype
            The new dtype; float32 for classes by default.

        Returns
        -------
        Template
            Without values.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> Tensor("y", [time], "int32", sparse_dim=feature).copy_template_dense().dims == (time, feature)
        True
        """
        if self.sparse_dim is None:
            return self.copy_template(name, dtype=dtype)
        template = self.copy_template(name, dtype="float32" if dtype is None else dtype)
        return template._with_dims((*self.dims, self.sparse_dim), False, sparse_dim=None)

    @property
    def dim_tags_set_implicit(self) -> frozenset[Dim]:
        """The dims, the classes and the dims that lengths depend on."""
        return frozenset([*self.dims, *self.dim_tags_set_implicit_only])

    @property
    def dim_tags_set_implicit_only(self) -> frozenset[Dim]:
        """The classes and the dims that lengths depend on, if they are not axes."""
        return frozenset([dim for dim in implicit_dims(self._frame) if dim not in self.dims])

    @property
    def time_dim_axis_excluding_batch(self) -> int | None:
        """The index of the time dim, counted without the batch; None without one."""
        axis = self.time_dim_axis
        return None if axis is None else self.get_batch_axis_excluding_batch(axis)

    @property
    def is_batch_feature_major(self) -> bool:
        """Whether the batch comes first, then the features."""
        return self.batch_dim_axis == 0 and self.feature_dim_axis == 1

    def get_batch_axis(self, axis: int) -> int:
        """Convert an index without the batch to one with it.

        Parameters
        ----------
        axis
            The index among the dims without the batch.

        Returns
        -------
        int
            The index among all dims.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_batch_axis(0), x.get_batch_axis(-1)
        (1, 2)
        """
        rest = self.get_axes(exclude_batch=True)
        return _place(axis, "axis", rest)

    def get_batch_axis_excluding_batch(self, axis: int) -> int | None:
        """The index of a dim, counted without the batch.

        Parameters
        ----------
        axis
            The index among all dims.

        Returns
        -------
        int or None
            None for the batch.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_batch_axis_excluding_batch(2), x.get_batch_axis_excluding_batch(0)
        (1, None)
        """
        rest, k = self.get_axes(exclude_batch=True), self._number(axis)
        return rest.index(k) if k in rest else None

    def get_spatial_axes(self) -> list[int]:
        """Like `get_spatial_batch_axes`, counted without the batch.

        Returns
        -------
        list of int
            Ascending.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_spatial_axes()
        [0]
        """
        rest = self.get_axes(exclude_batch=True)
        return [rest.index(k) for k in self.get_spatial_batch_axes()]

    def get_feature_axes(self) -> list[int]:
        """Like `get_feature_batch_axes`, counted without the batch.

        Returns
        -------
        list of int
            Ascending.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_feature_axes()
        [1]
        """
        rest = self.get_axes(exclude_batch=True)
        return [rest.index(k) for k in self.get_feature_batch_axes()]
