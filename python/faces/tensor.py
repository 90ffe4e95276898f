"""Methods of RETURNN's tensors that are an expression of others: where dims are, and other orders."""

from __future__ import annotations

from collections.abc import Iterator

from frontend import Face

#: The tensor of each example.
SETUP = """
    >>> from varlen.returnn import FeatureDim, SpatialDim, Tensor, batch_dim
    >>> time, feature = SpatialDim("time"), FeatureDim("feature", 4)
    >>> x = Tensor("x", [batch_dim, time, feature], "float32")"""
WORDS = {"batch": "B", "time": "T", "feature": "F"}
NONE, SEVERAL = {"IndexError": "There is none."}, "There are several, and none has that name."
STAY = "The other dims stay in their order."


def _method(
    name: str,
    summary: str,
    call: str,
    type: str,
    returns: str,
    example: str,
    gives: str,
    arguments: dict[str, tuple[str, str]] | None = None,
    raises: dict[str, str] | None = None,
) -> Face:
    """`arguments` are a type and a text each."""
    parameters = arguments or {}
    return Face(
        name,
        ", ".join(f"{word}: {hint}" for word, (hint, _) in parameters.items()),
        summary,
        call,
        f"{SETUP}\n    >>> {example.format(name=name)}\n    {gives}\n",
        {word: text for word, (_, text) in parameters.items()},
        returns,
        type,
        raises=raises or {},
    )


def _has(kind: str, what: str, returns: str) -> Face:
    call = f'self.has_axis("{WORDS[kind]}")'
    return _method(
        f"have_{kind}_axis", f"Whether there is {what}.", call, "bool", returns, "x.{name}()", "True"
    )


def _dim_of(kind: str, dim: str, raises: dict[str, str]) -> Face:
    word = WORDS[kind]
    return _method(
        f"get_{kind}_dim_tag",
        f"The dim of the {kind}.",
        f'self.get_dim_tag_from_description("{word}")',
        "Dim",
        f'The same as `axis("{word}")`.',
        f"x.{{name}}() == {dim}",
        "True",
        raises=raises,
    )


def _with_axis(kind: str, what: str) -> Face:
    argument, word = f"{kind}_dim_axis", WORDS[kind]
    return _method(
        f"copy_with_{argument}",
        f"Copy with the {what} moved to another index.",
        f'self.copy_move_axis(self._number("{word}"), self._number({argument}, "{argument}"))',
        "Self",
        STAY,
        f'x.{{name}}(1).get_axis_from_description("{word}")',
        "1",
        {argument: ("int", "Its new index.")},
    )


def _major(name: str, what: str, call: str, *gives: str) -> Face:
    example = "[dim.name for dim in x.{name}().dims]"
    return _method(f"copy_as_{name}_major", what, call, "Self", STAY, example, str(list(gives)))


def methods() -> Iterator[Face]:
    """All of them, in the order of the manual."""
    yield _method(
        "get_dim_tag",
        "The dim at an index.",
        "self.dims[self._number(axis)]",
        "Dim",
        "The same as `dims[axis]`.",
        "x.{name}(1) == time",
        "True",
        {"axis": ("int", "The index in `dims`.")},
    )
    yield _method(
        "get_static_axes",
        "The indices of the dims of fixed size, without the batch.",
        '[k for k, dim in enumerate(self.dims) if dim.kind != "batch" and dim.size is not None]',
        "list[int]",
        "Ascending.",
        "x.{name}()",
        "[2]",
    )
    yield _method(
        "get_batch_shape_dim_tags",
        "The dims.",
        "self.dims",
        "tuple[Dim, ...]",
        "The same as `dims`.",
        "x.{name}() == x.dims",
        "True",
    )
    yield _method(
        "get_dyn_size_tags",
        "The dims whose lengths differ, without the batch.",
        "[self.dims[k] for k in self.get_dynamic_axes()]",
        "list[Dim]",
        "In their order.",
        "x.{name}() == [time]",
        "True",
    )
    yield _has("batch", "a dim of the batch", "True if `batch_dim_axis` is not None.")
    several = "True also if there are several."
    yield _has("time", "a dim whose lengths differ, or one named as time", several)
    yield _has("feature", "a dim of fixed size, or one named as features", several)
    yield _method(
        "has_dynamic_size",
        "The same as `is_axis_dynamic`.",
        "self.is_axis_dynamic(axis)",
        "bool",
        "Whether the lengths of the dim differ.",
        "x.{name}(1)",
        "True",
        {"axis": ("Axis | int", "Its index, or a description of it.")},
    )
    yield _dim_of("batch", "batch_dim", NONE)
    yield _dim_of("time", "time", NONE | {"AmbiguousAxisError": SEVERAL})
    for kind, what in (("batch", "batch"), ("time", "time"), ("feature", "features")):
        yield _with_axis(kind, what)
    yield _major("batch", "Copy with the batch first.", 'self._put_first("B")', "batch", "time", "feature")
    for name in ("time", "time_batch"):
        text = "Copy with the time first, then the batch."
        yield _major(name, text, 'self._put_first("TB")', "time", "batch", "feature")
    yield _major(
        "batch_feature",
        "Copy with the batch first, then the features.",
        'self._put_first("BF")',
        "batch",
        "feature",
        "time",
    )
    yield _major(
        "batch_spatial",
        "Copy with the batch first, the features last.",
        "self.copy_as_batch_major().copy_with_feature_last()",
        "batch",
        "time",
        "feature",
    )
    yield _method(
        "copy_with_feature_last",
        "Copy with the features last.",
        "self if self.feature_dim_axis is None else self.copy_with_feature_dim_axis(-1)",
        "Self",
        "Of the same values; itself without features.",
        "[dim.name for dim in x.copy_with_feature_dim_axis(0).{name}().dims]",
        "['batch', 'time', 'feature']",
    )
    yield _method(
        "copy_template_excluding_time_dim",
        "Copy the template, without the time.",
        'self.copy_template_excluding_axis("T", name)',
        "Template",
        "Without values.",
        "x.{name}().dims == (batch_dim, feature)",
        "True",
        {"name": ("str | None = None", "The name in messages; unchanged by default.")},
        NONE,
    )
    yield _method(
        "is_same_time_dim",
        "Whether another tensor has the same time.",
        "bool(self.get_time_dim_tag() == self._require_tensor(other).get_time_dim_tag())",
        "bool",
        "By the identity of dims.",
        "x.{name}(x.copy_as_time_major())",
        "True",
        {"other": ("Axes", "A Tensor or a Template.")},
        {"IndexError": "One has none."},
    )
    yield _method(
        "get_full_name", "The name.", "self.name", "str | None", "None without.", "x.{name}()", "'x'"
    )


METHODS = tuple(methods())
