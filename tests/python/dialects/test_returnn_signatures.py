"""Signatures of RETURNN's frontend and Tensor, and the tables of the manual that say what differs."""

import inspect
import os
import re
from pathlib import Path

import pytest
import varlen.returnn as ours
import varlen.returnn.frontend as our_frontend

PAGE = Path(__file__).parents[3] / "docs" / "coming" / "returnn.md"


@pytest.fixture(scope="module")
def theirs():
    pytest.importorskip("torch")
    os.environ.setdefault("RETURNN_FRONTEND_NATIVE_OPT", "0")  # compiles nothing
    pytest.importorskip("returnn.tensor")
    pytest.importorskip("tree", reason="RETURNN's frontend needs dm-tree")
    import returnn.frontend
    import returnn.tensor

    return {"rf": returnn.frontend, "Tensor": returnn.tensor.Tensor}


def table(title):
    """The rows of the table under a title of the page, without code marks."""
    text = PAGE.read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in row] for row in rows[2:]]


def signature(function):
    """Parameters and defaults as text; a default that is a function by its name."""
    parts, is_keyword_only = [], False
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not is_keyword_only:
            parts.append("*")
            is_keyword_only = True
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        is_keyword_only |= star == "*"
        default = getattr(each.default, "__name__", repr(each.default))
        parts.append(f"{star}{each.name}" + ("" if each.default is each.empty else f"={default}"))
    return ", ".join(parts)


def differences(their_owner, our_owner, names):
    found = {}
    for name in names:
        own, other = getattr(our_owner, name), getattr(their_owner, name, None)
        if other is None:
            found[name] = ("not there", signature(own))
        elif signature(own) != signature(other):
            found[name] = (signature(other), signature(own))
    return found


def test_signatures_of_the_frontend_differ_where_the_table_says(theirs):
    rows = {row[0]: (row[1], row[2]) for row in table("Signatures") if not row[0].startswith("Tensor.")}
    assert rows == differences(theirs["rf"], our_frontend, our_frontend.__all__)


def test_signatures_of_tensor_differ_where_the_table_says(theirs):
    common = set(members(theirs["Tensor"])) & set(members(ours.Tensor))
    names = [n for n in common if callable(inspect.getattr_static(ours.Tensor, n))]
    named = {f"Tensor.{n}": pair for n, pair in differences(theirs["Tensor"], ours.Tensor, names).items()}
    assert {row[0]: (row[1], row[2]) for row in table("Signatures") if row[0].startswith("Tensor.")} == named


def members(owner):
    return [name for name in dir(owner) if not name.startswith("_")]


def test_members_of_tensor_that_are_not_there_are_in_the_table(theirs):
    lacking = set(members(theirs["Tensor"])) - set(members(ours.Tensor))
    told = [name for row in table("Members of Tensor that varlen lacks") for name in row[0].split("`, `")]
    assert sorted(told) == sorted(lacking)


def test_template_has_the_members_of_tensor_that_need_no_values():
    need_values = {
        "beam", "copy_compatible_to_dims", "copy_masked", "device", "get_sequence_lengths", "num_elements",
    }  # fmt: skip
    of_axes = {name for name in members(ours.Tensor) if name not in members(ours.Tensor.__bases__[1])}
    assert of_axes - set(members(ours.Template)) == need_values - {"beam", "device"}
