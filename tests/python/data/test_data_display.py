"""How joint dicts, data sets, batches and loaders look: words, bounded text, sound HTML, right figures."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen.data import Dataset, Loader
from varlen.display import text

Joint = vl.JointNestedRaggedTensorDict


@pytest.fixture
def patients():
    return Joint({
        "sex": ["M", "F", "M", "F"],
        "age": [30, 41, 12, 8],
        "code": [[["HR", "BP"], ["RR"]], [["BP"]], [], [[], ["X", "HR"]]],
        "time": [[0.5, 1.25], [3.0], [], [1.0, float("nan")]],
    })  # fmt: skip


@pytest.fixture
def folder(patients, tmp_path):
    for i in range(2):
        patients[2 * i : 2 * i + 2].save(tmp_path / f"{i}.nrt")
    return tmp_path


def test_a_row_of_a_data_set_shows_what_was_stored(folder):
    assert repr(vl.open(folder)[0]) == str(vl.open(folder)[0]) == "\n".join([
        "JointNestedRaggedTensorDict(2 rows, 4 keys)",
        "  sex   words    'M'",
        "  age   uint8    30",
        "  code  words    [['HR', 'BP'], ['RR']]",
        "  time  float32  [0.5, 1.25]",
    ])  # fmt: skip
    assert "  code  words    ['BP']" in repr(vl.open(folder)[1, 0])


def test_a_data_set_shows_its_keys_first_rows_and_lengths(folder):
    lines = str(vl.open(folder)).splitlines()
    assert lines[0] == "Dataset(4 rows in 2 shards, 4 keys); the first 3:"
    assert lines[1] == "  sex   words    ['M', 'F', 'M']"
    assert lines[5].startswith("dim 1: lengths 0 ")
    assert lines[5].endswith(" 2, mean 1.25")
    assert repr(vl.open(folder)).count("\n") == 0


def test_a_joint_dict_without_words_keeps_the_text_of_nested_ragged_tensors():
    assert "dim0/age" in repr(Joint({"age": [1]}))
    assert repr(Joint({})) == "JointNestedRaggedTensorDict(processed_tensors={}, schema={})"


def test_text_is_bounded_by_a_screen_and_cuts_between_numbers():
    n = 100_000
    values = {f"key{i}": vl.Ragged(np.arange(n) / 7, [n]) for i in range(40)}
    shown = str(Dataset(Joint(values, narrow=False)))
    assert len(shown.splitlines()) < 25
    assert all(len(line) <= text.LINE for line in shown.splitlines())
    assert "... 20 more keys" in shown
    assert text.clip("1.25, 3.75, 2.5", 12) == "1.25, ..."
    assert text.clip("x" * 20, 12) == "x" * 9 + "..."


@given(st.text(", 0123456789", max_size=60), st.integers(5, 80))
def test_a_cut_text_is_a_prefix_of_whole_values(values, width):
    cut = text.clip(values, width)
    assert len(cut) <= width
    if cut != values:
        front = cut.removesuffix("...").removesuffix(", ")
        assert cut.endswith("...")
        assert values.startswith(front)


@pytest.mark.parametrize("layout", ["padded", "ragged"])
@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_a_batch_shows_kinds_shapes_and_values(folder, framework, layout):
    if framework == "torch":
        pytest.importorskip("torch")
    batch = vl.open(folder).batch([0, 1, 3], framework=framework, layout=layout)
    title, *lines = str(batch).splitlines()
    assert title == f"Batch({len(batch)} keys, cpu)"
    assert [line.split()[0] for line in lines] == [*batch]
    assert all(len(line) <= text.LINE for line in lines)
    assert dict(batch).keys() == batch.keys()


def test_html_is_well_formed_and_needs_no_script(folder, patients):
    data = vl.open(folder)
    for thing in (
        data,
        data[0],
        patients,
        Joint({}),
        data.batch([0, 1]),
        Loader(data, batch_size=2),
        data.describe(),
    ):
        page = thing._repr_html_()
        ET.fromstring(page)
        assert "script" not in page


@pytest.mark.parametrize("view", [slice(None), [3, 1], []], ids=str)
def test_a_key_of_a_data_set_is_that_of_all_its_rows(folder, patients, view):
    whole, part = vl.open(folder), patients if view == slice(None) else patients[view]
    data = whole if view == slice(None) else whole.select(view)
    for name in ("sex", "age", "code", "time"):
        found, expected = data[name], part[name]
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(found, expected)
        else:
            assert found.equals(expected, equal_nan=True)
    with pytest.raises(KeyError, match=r"'none' is no key of these rows; there are \['age', 'code'"):
        data["none"]


def test_the_head_is_the_first_rows(folder, patients):
    data = vl.open(folder)
    for n in (0, 1, 3, 9):
        assert data.head(n).equals(patients[:n], equal_nan=True)
        assert patients.head(n).equals(patients[:n], equal_nan=True)
    with pytest.raises(ValueError, match="n"):
        patients.head(-1)
    with pytest.raises(TypeError, match="n"):
        data.head("two")


FIGURES = ("min", "25%", "50%", "75%", "max")


@given(st.lists(st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), max_size=5), max_size=6))
def test_a_summary_has_the_figures_of_numpy(rows):
    r = vl.Ragged.from_list([np.array(row, float) for row in rows]) if rows else vl.Ragged(np.zeros(0), [])
    table = r.describe()
    valid = r.values[~np.isnan(r.values)]
    assert table["name"] == ["lengths", "values"]
    assert (table["count"], table["missing"][1]) == ([len(r), len(valid)], r.total - len(valid))
    for place, numbers in enumerate((r.lengths, valid)):
        if len(numbers):
            found = [table[name][place] for name in FIGURES]
            np.testing.assert_allclose(
                found, np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1]), rtol=1e-12, atol=1e-9
            )
            assert table["mean"][place] == pytest.approx(np.mean(numbers), abs=1e-6)
            assert table["std"][place] == pytest.approx(np.std(numbers), abs=1e-6)
        else:
            assert [table[name][place] for name in FIGURES] == [None] * 5


def test_a_summary_describes_words_times_and_what_has_no_order(folder):
    pandas = pytest.importorskip("pandas")
    table = vl.open(folder).describe()
    assert table["name"] == ["dim1/lengths", "dim2/lengths", "sex", "age", "code", "time"]
    assert table["most frequent"][2:5] == ["'M' 2, 'F' 2", None, "'HR' 2, 'BP' 2, 'RR' 1"]
    assert pandas.DataFrame(table).shape == (6, 12)
    days = vl.Ragged(np.array(["2020-01-03", "NaT", "2020-01-01"], "M8[D]"), [3]).describe()
    assert (days["missing"][1], days["min"][1], days["max"][1]) == (
        1,
        np.datetime64("2020-01-01"),
        np.datetime64("2020-01-03"),
    )
    assert vl.Ragged(np.array([1j]), [1]).describe()["count"] == [1, 1]
    assert vl.Ragged(np.array(["b", "a", "b"]), [3]).describe()["most frequent"][1] == "'b' 2, 'a' 1"
    assert vl.Ragged(np.array([np.inf, -np.inf]), [2]).describe()["max"][1] == np.inf


def test_a_summary_of_a_tensor_is_that_of_its_array():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([1.0, 2.0, 4.0], dtype=torch.bfloat16, requires_grad=True), [2, 1])
    assert r.describe()["mean"] == vl.Ragged(np.array([1.0, 2.0, 4.0]), [2, 1]).describe()["mean"]
