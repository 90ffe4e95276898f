"""What a declaration of a verb holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Argument:
    """An argument by keyword: its type, its default, and what it means."""

    name: str
    type: str
    default: str
    text: str
    #: What stands in its place where a method does not have it.
    of_method: str | None = None

    def with_default(self, default: str, text: str | None = None) -> Argument:
        """The same with another default."""
        return replace(self, default=default, text=text or self.text)


@dataclass(frozen=True)
class DataMethod:
    """The method of `varlen.Data`: its sentence, what comes of no positions, and what its example gives.

    An infinite number comes of no floats alone, where the verb itself refuses nothing.
    """

    summary: str
    empty: str
    gives: str


@dataclass(frozen=True)
class Verb:
    """A verb: all that its function, its methods and the manual say of it.

    `call` is what the function returns. In it `{X}` and the names of arguments in braces are what each face
    has: a method has itself for `{X}`, None for `{lengths}`, and `Argument.of_method` for what it lacks.
    """

    #: The method of a Ragged, and the function of `varlen.ops`.
    name: str
    function: str
    #: "reduce": a row for each sequence; "in place": each row stays.
    kind: str
    #: The file of `varlen.ops.faces` that holds the function.
    noun: str
    summary: str
    call: str
    arguments: tuple[Argument, ...]
    #: What the function gives, and the method.
    returns: str
    method_returns: str
    example: str
    method_example: str
    #: What is said of X where it is not numbers.
    values: str = "(total, ...) numbers or bools, an array or a tensor, or a Ragged."
    raises: dict[str, str] = field(default_factory=dict)
    notes: str = ""
    see_also: str = ""
    method_summary: str = ""
    data: DataMethod | None = None
    #: What computes it: a verb of the backends, or "composed", its function in `ops/compositions.py`. A fold
    #: that is no op of `reduce` is a verb of values, a level and what empty gives.
    by: str = "reduce"
    #: The ufunc that brings two results together.
    ufunc: str = ""
    #: The function that NumPy or torch has by that name, and by `aliases`: the parameters behind the first.
    numpy: str = ""
    torch: str = ""
    aliases: tuple[str, ...] = ()

    #: torch has a function of that name along an axis: the method becomes it where it gets torch's keywords.
    has_dim: bool = False

    @property
    def gives_places(self) -> bool:
        """It takes `which`, and then gives two results."""
        return any(argument.name == "which" for argument in self.arguments)

    @property
    def is_extreme(self) -> bool:
        """Nothing comes of no integers, and an infinite number of no floats."""
        return bool(self.data and "inf" in self.data.empty and self.default_of("empty") == "None")

    def default_of(self, name: str) -> str | None:
        """The default of an argument; None where the verb does not take it."""
        return next((argument.default for argument in self.arguments if argument.name == name), None)


@dataclass(frozen=True)
class ByHand:
    """Verbs whose functions and methods are written by hand: their row in the table of the manual."""

    methods: tuple[str, ...]
    kind: str
    functions: tuple[str, ...] = ()
    level: bool = True
    axis: bool = False
    empty: str = ""
    out: bool = False
    #: What stands in the first column of a row without methods.
    label: str = ""
