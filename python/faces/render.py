"""Declarations as plain Python and as rows of a table: every text is a function of the verbs alone."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from frontend import TEXTS, Face
from verb import Argument, ByHand, Verb

WIDTH = 110
HEADER = "# Written by python/faces: change its declarations, and run `python python/faces`.\n# fmt: off\n"


def module(docstring: str, imports: str, parts: Iterable[str]) -> str:
    """A module of Python of its parts."""
    body = "\n\n".join(["", *(part.rstrip() + "\n" for part in parts)])
    return f'"""{docstring}"""\n\n{HEADER}\n{imports.strip()}\n{body}'


def _def(
    name: str, first: Iterable[str], extras: Iterable[str], result: str, indent: str, end: str = ":"
) -> str:
    """The head of a function, wrapped where it is long; `first` come by position, `extras` by keyword."""
    positional, keywords = list(first), list(extras)
    star = ["*"] if keywords and not keywords[0].startswith("**") else []
    arguments = ", ".join([*positional, *star, *keywords])
    line = f"{indent}def {name}({arguments}) -> {result}{end}"
    if len(line) <= WIDTH:
        return line
    lines = [""]
    for argument in [*positional, *star, *keywords]:
        lines += [""] if len(lines[-1]) + len(argument) + len(indent) + 6 > WIDTH else []
        lines[-1] += f" {argument},"
    inner = "\n".join(f"{indent}   {line}" for line in lines)
    return f"{indent}def {name}(\n{inner}\n{indent}) -> {result}{end}"


def _prose(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _section(title: str, lines: Iterable[str], indent: str) -> Iterator[str]:
    rows = list(lines)
    if rows:
        yield ""
        yield f"{indent}{title}"
        yield f"{indent}{'-' * len(title)}"
        yield from rows


def _docstring(summary: str, sections: Iterable[tuple[str, list[str]]], indent: str) -> str:
    lines = [f'{indent}"""{summary}']
    first = lines[0].partition("\n")[0]
    if len(first) > WIDTH:
        excess = len(first) - WIDTH
        raise ValueError(f"{first.strip()} is {excess} too long: shorten `summary` or `method_summary`")
    for title, rows in sections:
        lines += _section(title, rows, indent)
    return "\n".join([*lines, f'{indent}"""'])


def _terms(terms: Iterable[tuple[str, str]], indent: str) -> list[str]:
    return [line for name, text in terms for line in (indent + name, _prose(text, indent + " " * 4))]


def _example(text: str, indent: str) -> list[str]:
    return textwrap.indent(textwrap.dedent(text).strip("\n").rstrip(), indent).splitlines()


def _parameter(argument: Argument) -> str:
    return f"{argument.name}: {argument.type} = {argument.default}"


def function(verb: Verb) -> str:
    """The function of `varlen.ops`, with its overloads."""
    in_place = verb.kind == "in place"
    container, operands = ("RaggedT", "RaggedT") if in_place else ("RaggedBase[ArrayT]", "ArrayT | Any")
    parts = []
    for which in (False, True) if verb.gives_places else (None,):
        arguments = [
            f"which: Literal[{which}]" + (" = False" if which is False else "")
            if a.name == "which"
            else _parameter(a)
            for a in verb.arguments
        ]
        for X, lengths, result in (
            (container, "None = None", operands),
            ("RowsT | Sequence[Any]", "Lengths", "RowsT"),
        ):
            result = f"tuple[{result}, {result}]" if which else result
            head = _def(verb.function, [f"X: {X}", f"lengths: {lengths}"], arguments, result, "", ": ...")
            parts.append(f"@overload\n{head}\n")
    result = "Rows | tuple[Rows, Rows]" if verb.gives_places else "Rows"
    texts = map(_parameter, verb.arguments)
    parts.append(_def(verb.function, ["X: Any", "lengths: Any = None"], texts, result, "") + "\n")
    two = ", or a tuple of two" if verb.gives_places else ""
    parameters = [
        ("X", verb.values),
        ("lengths", "(n,) integers, or a `Level`; omit it with a Ragged."),
        *((argument.name, argument.text) for argument in verb.arguments),
    ]
    indent = " " * 4
    sections = [
        ("Parameters", _terms(parameters, indent)),
        ("Returns", _terms([(f"numpy.ndarray, torch.Tensor or Ragged{two}", verb.returns)], indent)),
        ("Raises", _terms(verb.raises.items(), indent)),
        ("See Also", [indent + verb.see_also] if verb.see_also else []),
        ("Notes", [_prose(verb.notes, indent)] if verb.notes else []),
        ("Examples", _example(verb.example, indent)),
    ]
    parts.append(_docstring(verb.summary, sections, indent) + "\n")
    own = {argument.name: argument.name for argument in verb.arguments}
    parts.append(f"{indent}return {verb.call.format(X='X', lengths='lengths', **own)}\n")
    return "".join(parts)


#: The keywords that torch has in the place of `axis`, as an argument of a method and in its docstring.
TORCH = "**torch: Unpack[TorchKeywords]"
OF_TORCH = (
    "**torch",
    "With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is that "
    "function's.",
)


def _or_torch(name: str, arguments: Iterable[str], type: str, call: str) -> str:
    """The body of a method that becomes torch's function where it gets torch's keywords."""
    values = ", ".join(f"{argument}={argument}" for argument in arguments)
    indent = " " * 8
    torch = _statement(
        f"result: {type} = ", f'by_torch_keywords(self, "{name}", torch, {values})', indent + "    "
    )
    own = _statement("result = ", call, indent + "    ")
    return f"{indent}if torch:\n{torch}{indent}else:\n{own}{indent}return result\n"


def method(verb: Verb) -> str:
    """The method of a Ragged."""
    in_place = verb.kind == "in place"
    options = [argument for argument in verb.arguments if argument.of_method is None]
    own = {argument.name: argument.of_method or argument.name for argument in verb.arguments}
    front = [_parameter(argument) for argument in options if argument.name == "axis"]
    extras = [_parameter(argument) for argument in options if argument.name != "axis"]
    result = "Self" if in_place else "ArrayT | Any"
    indent = " " * 8
    summary = verb.method_summary or verb.summary.rstrip(".").partition(":")[0]
    dims = [OF_TORCH] if verb.torch or verb.has_dim else []
    gives = "Ragged" if in_place else "(n, ...) array or tensor, or Ragged of the levels above"
    sections = [
        ("Parameters", _terms([*((argument.name, argument.text) for argument in options), *dims], indent)),
        ("Returns", _terms([(gives, verb.method_returns)], indent)),
        ("Raises", _terms(verb.raises.items(), indent)),
        ("Examples", _example(verb.method_example, indent)),
    ]
    call = verb.call.format(X="self", lengths="None", **own)
    if verb.torch or verb.has_dim:
        body = _or_torch(verb.name, (argument.name for argument in options), result, call)
        extras.append(TORCH)
    else:
        lines = [f"result: Self = {call}", "return result"] if in_place else [f"return {call}"]
        body = "".join(f"{indent}{line}\n" for line in lines)
    head = _def(verb.name, ["self", *front], extras, result, " " * 4)
    return f"{head}\n{_docstring(f'{summary}; as `ops.{verb.function}`.', sections, indent)}\n{body}"


def data_method(verb: Verb) -> str:
    """The method of a Data, which names dims."""
    assert verb.data is not None
    options = [argument for argument in verb.arguments if argument.name in ("dtype", "overflow")]
    extras = ["empty: Any = DEFAULT", "out_shape: OutShape | None = None", *map(_parameter, options)]
    head = _def(verb.name, ["self: Any", 'axis: Axis | Sequence[Axis] = "*"'], extras, "Data[Any]", " " * 4)
    indent = " " * 8
    parameters = [
        ("axis", "The dims to reduce; all of them by default."),
        ("empty", f"The result for no positions. {_empty_position_text(verb)}"),
        ("out_shape", "The dims that the result must have; None skips the check."),
        *((argument.name, argument.text) for argument in options),
    ]
    sections = [
        ("Parameters", _terms(parameters, indent)),
        ("Returns", _terms([("Data", "The results, over the remaining dims.")], indent)),
        (
            "Raises",
            _terms(
                [("TypeError, ValueError, IndexError, OverflowError, OutShapeError", "As `dims.reduce`.")],
                indent,
            ),
        ),
        (
            "Examples",
            _example(
                f"""
                >>> time = vl.Dim("time", lengths=[2, 1])
                >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
                >>> x.{verb.name}(time).values
                {verb.data.gives}
                """,
                indent,
            ),
        ),
    ]
    operands = ", ".join(
        f"{name}={name}" for name in ("empty", "out_shape", *(argument.name for argument in options))
    )
    doc = _docstring(f"{verb.data.summary} over some dims, as `dims.reduce`.", sections, indent)
    return f'{head}\n{doc}\n{indent}return reduce(self, "{verb.name}", axis, {operands})\n'


def _empty_position_text(verb: Verb) -> str:
    """The default of `empty` of a method of Data, in words."""
    assert verb.data is not None
    if verb.data.empty == "None":
        return "None, the default, raises an error."
    text = "NaN" if verb.data.empty == 'float("nan")' else _plain(verb.data.empty)
    return f"By default {text}{', for integers an error' * verb.is_extreme}; None raises an error."


def _arguments(text: str) -> list[str]:
    """Each argument of a head, "a: int, b: str = '-'": its name begins it."""
    return [argument for argument in re.split(r",\s*(?=\*{0,2}\w+:)|,\s*$", text) if argument]


def _split(arguments: str) -> tuple[list[str], list[str]]:
    """The arguments of a head that come by position, and those by keyword."""
    positional, _, keywords = arguments.partition("*, ")
    return _arguments(positional), _arguments(keywords)


#: What a function of the frontend calls that names the same arguments in errors.
DELEGATES = re.compile(r"(combine|compare|random|reduce|pool|pool1d)\(")


def face(face: Face, owner: str | None = None, itself: str = "self", is_frontend: bool = False) -> str:
    """A function, one of RETURNN's frontend or another, or a method of a class."""
    indent = " " * 4 if owner is None else " " * 8
    first, extras = _split(face.arguments)
    dims = [TORCH] if face.has_dim else []
    options = [] if owner is None else [itself]
    head = ""
    for arguments, type in face.overloads:
        by_place, by_name = _split(arguments)
        line = _def(face.name, [*options, *by_place], [*by_name, *dims], type, indent[4:], ": ...")
        head += f"{indent[4:]}@overload\n{line}\n"
    head += _def(face.name, [*options, *first], [*extras, *dims], face.type, indent[4:])
    key_of = {name: key for key in face.texts for name in key.split(", ")}
    names = [argument.partition(":")[0] for argument in (*first, *extras)]
    terms = {key_of.get(name, name): "" for name in names}
    parameters = [(key, face.texts.get(key) or TEXTS[key]) for key in terms]
    parameters += [OF_TORCH] if dims else []
    setup = [f"{indent}>>> import varlen.returnn.frontend as rf"] if is_frontend else []
    kind = face.type.replace("Self", owner or "").replace("Ints", "numpy.ndarray")
    kind = re.sub(r"\[(Any|ArrayT|np.ndarray)\]", "", kind)
    returns = _terms([(face.kind or kind, face.returns)], indent)
    sections = [
        ("Parameters", _terms(parameters, indent)),
        ("Returns", [indent + face.shape] if face.shape else returns),
        ("Raises", _terms(face.raises.items(), indent)),
        ("Notes", [_prose(face.notes, indent)] if face.notes else []),
        ("Examples", [*setup, *_example(face.example, indent)]),
    ]
    decorator = f"{indent[4:]}@classmethod\n" if itself.startswith("cls") else ""
    checks = _checks([*first, *extras]) if is_frontend and not DELEGATES.match(face.call) else ""
    result = f"{indent}result: {face.type} = {face.call}\n{indent}return result\n"
    body = checks + (result if face.is_any else _return(face.call, indent))
    if dims:
        body = _or_torch(face.name, names, face.type, face.call)
    return f"{decorator}{head}\n{_docstring(face.summary, sections, indent)}\n{body}"


def _checks(arguments: list[str]) -> str:
    """The lines of a function of RETURNN's frontend that refuse what is no tensor, or no number either."""
    lines = []
    for argument in arguments:
        name, _, kind = argument.partition(" = ")[0].partition(": ")
        if kind.startswith("Data[Any]"):
            check = "check_tensor" if kind == "Data[Any]" else "check_operand"
            if name[0] == "*":
                lines.append(f"    for i, part in enumerate({name[1:]}):\n")
                lines.append(f'        {check}(part, f"{name[1:]}[{{i}}]")\n')
            else:
                lines.append(f'    {check}({name}, "{name}")\n')
    return "".join(lines)


def _return(call: str, indent: str) -> str:
    """What a function returns; the arguments of a long call are wrapped."""
    return _statement("return ", call, indent)


def _statement(start: str, call: str, indent: str) -> str:
    line = f"{indent}{start}{call}\n"
    if len(line.partition("  #")[0]) <= WIDTH:
        return line
    function, _, arguments = call.removesuffix(")").partition("(")
    return f"{indent}{start}{function}(\n{_prose(arguments, indent + ' ' * 4)}\n{indent})\n"


def _imports(home: dict[str, list[str]], indent: int = 0) -> str:
    """A line for each module, or more where it is long."""
    lines = []
    for noun in sorted(home):
        line = f"from {noun} import {', '.join(sorted(home[noun], key=isort))}"
        if len(line) + indent > WIDTH:
            line = line.replace(" import ", " import (\n    ").replace(", ", ",\n    ") + ",\n)"
        lines.append(line)
    return "\n".join(lines)


def package(docstring: str, home: dict[str, list[str]], is_public: bool = False) -> str:
    """The `__init__` of a package: what each of its modules gives it; a public one knows where others are."""
    names = sorted((name for names in home.values() for name in names), key=isort)
    entries = "\n".join(f'    "{name}",' for name in names)
    text = f"\n\n__all__ = [\n{entries}\n]"
    if not is_public:
        return module(docstring, _imports(home) + text, [])
    imports = _imports(home | {"varlen._lazy": ["loaded_from"]})
    text += "\n\nif not TYPE_CHECKING:  # type checkers know all names"
    text += "\n    __getattr__ = loaded_from(__name__, {})"
    return module(docstring, f"from typing import TYPE_CHECKING\n\n{imports}{text}", [])


def lazy(home: dict[str, list[str]], also: list[str], modules: list[str], hidden: set[str]) -> str:
    """The names of a package that loads them when they are asked for: for type checkers, and by their homes.

    `also` are names that it has by itself, `hidden` those that `import *` does not take.
    """
    public = {module: [name for name in home[module] if name not in hidden] for module in home}
    lines = [f"    {line}" for line in _imports(public, 4).splitlines()]
    lines = [f"    from varlen import {', '.join(sorted(modules))}", *lines] if modules else lines
    names = {name: module for module in sorted(home) for name in home[module]}
    entries = sorted({*names, *also, *modules} - hidden, key=isort)
    return "\n".join(
        [
            "# fmt: off",
            "if TYPE_CHECKING:",
            *lines,
            "",
            "__all__ = [",
            *(f'    "{name}",' for name in entries),
            "]",
            "",
            "# The module that each name lives in.",
            "_HOMES = {",
            *(f'    "{name}": "{names[name]}",' for name in sorted(names, key=isort)),
            "}",
            "# fmt: on\n",
        ]
    )


def isort(name: str) -> tuple[int, str]:
    """Constants, classes and functions, in this order."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def _plain(default: str) -> str:
    """A default as the manual has it."""
    return {"None": "refused"}.get(default) or re.sub(r'^float\("(.*)"\)$', r"\1", default)


def row(verb: Verb | ByHand) -> str:
    """The row of the table of verbs."""
    if isinstance(verb, ByHand):
        label = ", ".join(f"`r.{name}`" for name in verb.methods) or verb.label
        functions = ", ".join(f"`{name}`" for name in verb.functions)
        columns = (verb.level, verb.axis, verb.empty, verb.out)
    else:
        label, functions = f"`r.{verb.name}`", f"`ops.{verb.function}`"
        takes = {argument.name for argument in verb.arguments}
        empty = verb.default_of("empty")
        empty_text = "always 0" if verb.kind == "reduce" else ""
        columns = (
            "level" in takes,
            "axis" in takes,
            empty_text if empty is None else _plain(empty),
            "out" in takes,
        )
    cells = [
        label,
        verb.kind,
        functions,
        *(cell if isinstance(cell, str) else "yes" if cell else "" for cell in columns),
    ]
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def table(verbs: Iterable[Verb | ByHand]) -> str:
    """The table of verbs."""
    head = [
        "verbs of a Ragged `r`",
        "kind",
        "functions",
        "`level=`",
        "`axis=`",
        "`empty=` (default)",
        "`out=` of the function",
    ]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *map(row, verbs)]) + "\n"
