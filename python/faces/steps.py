"""The first and the last step of `varlen.sequence`."""

from __future__ import annotations

from frontend import Face

BOTH = "numpy.ndarray, torch.Tensor or Ragged"
LEVEL = "The level whose sequences become one row each; levels below it are merged. -1 is the innermost."


def _step(name: str, gives: str) -> Face:
    is_first = name == "first"
    as_first = "As in `sequence_first_step`."
    refuses = {"TypeError": "`input` is not a Ragged.", "IndexError": "There is no such level."}
    return Face(
        f"sequence_{name}_step",
        "input: RaggedBase[ArrayT], *, level: int = -1",
        f'The {name} row of each sequence; zeros, or NaT, for an empty one: `sequence_pool` with "{name}".',
        f'sequence_pool(input, "{name}", level=level)',
        f"""
        >>> vl.sequence_{name}_step(vl.Ragged([3, 1, 4], [2, 0, 1]))
        {gives}
        """,
        {"input": "`Ragged` of rows (T, ...) of any dtype.", "level": LEVEL}
        if is_first
        else {"input, level": as_first},
        "(n, ...) of the dtype of `input`; under more levels a `Ragged` of those above.",
        "ArrayT | Any",
        kind=BOTH,
        notes=f"As Paddle's `sequence_{name}_step`, for any depth and dtype.",
        raises=refuses if is_first else {"TypeError, IndexError": as_first},
    )


def _gradient_face(name: str, gives: str) -> Face:
    is_first = name == "first"
    gradient = f"an array, a tensor or a `Ragged`: the gradient of the result of `sequence_{name}_step`."
    return Face(
        f"backprop_sequence_{name}_step",
        "dY: Any, input: RaggedT, *, level: int = -1",
        f"The gradient of `sequence_{name}_step`: the {name} row of sequence i gets row i, the others zeros.",
        f'backprop_sequence_pool(dY, input, "{name}", level=level)',
        f"""
        >>> vl.sequence.backprop_sequence_{name}_step([5.0], vl.Ragged([3.0, 1.0], [2])).values
        {gives}
        """,
        {
            "dY": f"(n, ...) numbers, {gradient}",
            "input, level": f"The arguments of `sequence_{name}_step`.",
        }
        if is_first
        else {"dY, input, level": "As in `backprop_sequence_first_step`."},
        "Nests as `input`, of the dtype of dY.",
        "RaggedT",
        kind="Ragged",
        raises={
            "TypeError, ValueError, IndexError": (
                f"As in `sequence_{name}_step`; or dY has another shape, or does not hold numbers."
            )
        },
    )


STEPS = (
    _step("first", "array([3, 0, 4])"),
    _step("last", "array([1, 0, 4])"),
    _gradient_face("first", "array([5., 0.])"),
    _gradient_face("last", "array([0., 5.])"),
)
