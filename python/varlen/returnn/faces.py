"""Members of RETURNN's tensors that others express."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING

from varlen.dims import Dim
from varlen.returnn.axes import AxesBase

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.dims.axes import Axis
    from varlen.returnn.tensor import Template


class Axes(AxesBase):
    """Members of tensors and templates, which inherit them."""

    __slots__ = ()

    def get_dim_tag(self, axis: int) -> Dim:
        """The dim at an index.

        Parameters
        ----------
        axis
            The index in `dims`.

        Returns
        -------
        Dim
            The same as `dims[axis]`.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_dim_tag(1) == time
        True
        """
        return self.dims[self._number(axis)]

    def get_static_axes(self) -> list[int]:
        """The indices of the dims of fixed size, without the batch.

        Returns
        -------
        list[int]
            Ascending.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_static_axes()
        [2]
        """
        return [k for k, dim in enumerate(self.dims) if dim.kind != "batch" and dim.size is not None]

    def get_batch_shape_dim_tags(self) -> tuple[Dim, ...]:
        """The dims.

        Returns
        -------
        tuple[Dim, ...]
            The same as `dims`.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_batch_shape_dim_tags() == x.dims
        True
        """
        return self.dims

    def get_dyn_size_tags(self) -> list[Dim]:
        """The dims whose lengths differ, without the batch.

        Returns
        -------
        list[Dim]
            In their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_dyn_size_tags() == [time]
        True
        """
        return [self.dims[k] for k in self.get_dynamic_axes()]

    def have_batch_axis(self) -> bool:
        """Whether there is a dim of the batch.

        Returns
        -------
        bool
            True if `batch_dim_axis` is not None.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.have_batch_axis()
        True
        """
        return self.has_axis("B")

    def have_time_axis(self) -> bool:
        """Whether there is a dim whose lengths differ, or one named as time.

        Returns
        -------
        bool
            True also if there are several.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.have_time_axis()
        True
        """
        return self.has_axis("T")

    def have_feature_axis(self) -> bool:
        """Whether there is a dim of fixed size, or one named as features.

        Returns
        -------
        bool
            True also if there are several.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.have_feature_axis()
        True
        """
        return self.has_axis("F")

    def has_dynamic_size(self, axis: Axis | int) -> bool:
        """The same as `is_axis_dynamic`.

        Parameters
        ----------
        axis
            Its index, or a description of it.

        Returns
        -------
        bool
            Whether the lengths of the dim differ.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.has_dynamic_size(1)
        True
        """
        return self.is_axis_dynamic(axis)

    def get_batch_dim_tag(self) -> Dim:
        """The dim of the batch.

        Returns
        -------
        Dim
            The same as `axis("B")`.

        Raises
        ------
        IndexError
            There is none.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_batch_dim_tag() == batch_dim
        True
        """
        return self.get_dim_tag_from_description("B")

    def get_time_dim_tag(self) -> Dim:
        """The dim of the time.

        Returns
        -------
        Dim
            The same as `axis("T")`.

        Raises
        ------
        IndexError
            There is none.
        AmbiguousAxisError
            There are several, and none has that name.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_time_dim_tag() == time
        True
        """
        return self.get_dim_tag_from_description("T")

    def copy_with_batch_dim_axis(self, batch_dim_axis: int) -> Self:
        """Copy with the batch moved to another index.

        Parameters
        ----------
        batch_dim_axis
            Its new index.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_with_batch_dim_axis(1).get_axis_from_description("B")
        1
        """
        return self.copy_move_axis(self._number("B"), self._number(batch_dim_axis, "batch_dim_axis"))

    def copy_with_time_dim_axis(self, time_dim_axis: int) -> Self:
        """Copy with the time moved to another index.

        Parameters
        ----------
        time_dim_axis
            Its new index.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_with_time_dim_axis(1).get_axis_from_description("T")
        1
        """
        return self.copy_move_axis(self._number("T"), self._number(time_dim_axis, "time_dim_axis"))

    def copy_with_feature_dim_axis(self, feature_dim_axis: int) -> Self:
        """Copy with the features moved to another index.

        Parameters
        ----------
        feature_dim_axis
            Its new index.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_with_feature_dim_axis(1).get_axis_from_description("F")
        1
        """
        return self.copy_move_axis(self._number("F"), self._number(feature_dim_axis, "feature_dim_axis"))

    def copy_as_batch_major(self) -> Self:
        """Copy with the batch first.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> [dim.name for dim in x.copy_as_batch_major().dims]
        ['batch', 'time', 'feature']
        """
        return self._put_first("B")

    def copy_as_time_major(self) -> Self:
        """Copy with the time first, then the batch.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> [dim.name for dim in x.copy_as_time_major().dims]
        ['time', 'batch', 'feature']
        """
        return self._put_first("TB")

    def copy_as_time_batch_major(self) -> Self:
        """Copy with the time first, then the batch.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> [dim.name for dim in x.copy_as_time_batch_major().dims]
        ['time', 'batch', 'feature']
        """
        return self._put_first("TB")

    def copy_as_batch_feature_major(self) -> Self:
        """Copy with the batch first, then the features.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> [dim.name for dim in x.copy_as_batch_feature_major().dims]
        ['batch', 'feature', 'time']
        """
        return self._put_first("BF")

    def copy_as_batch_spatial_major(self) -> Self:
        """Copy with the batch first, the features last.

        Returns
        -------
        Tensor
            The other dims stay in their order.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> [dim.name for dim in x.copy_as_batch_spatial_major().dims]
        ['batch', 'time', 'feature']
        """
        return self.copy_as_batch_major().copy_with_feature_last()

    def copy_with_feature_last(self) -> Self:
        """Copy with the features last.

        Returns
        -------
        Tensor
            Of the same values; itself without features.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> [dim.name for dim in x.copy_with_feature_dim_axis(0).copy_with_feature_last().dims]
        ['batch', 'time', 'feature']
        """
        return self if self.feature_dim_axis is None else self.copy_with_feature_dim_axis(-1)

    def copy_template_excluding_time_dim(self, name: str | None = None) -> Template:
        """Copy the template, without the time.

        Parameters
        ----------
        name
            The name in messages; unchanged by default.

        Returns
        -------
        Template
            Without values.

        Raises
        ------
        IndexError
            There is none.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.copy_template_excluding_time_dim().dims == (batch_dim, feature)
        True
        """
        return self.copy_template_excluding_axis("T", name)

    def is_same_time_dim(self, other: Axes) -> bool:
        """Whether another tensor has the same time.

        Parameters
        ----------
        other
            A Tensor or a Template.

        Returns
        -------
        bool
            By the identity of dims.

        Raises
        ------
        IndexError
            One has none.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.is_same_time_dim(x.copy_as_time_major())
        True
        """
        return bool(self.get_time_dim_tag() == self._require_tensor(other).get_time_dim_tag())

    def get_full_name(self) -> str | None:
        """The name.

        Returns
        -------
        str | None
            None without.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
        >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
        >>> x = Tensor("x", [batch_dim, time, feature], "float32")
        >>> x.get_full_name()
        'x'
        """
        return self.name
