"""Display: text that is bounded, HTML that is well formed, pictures that count right."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from varlen.display import html, text
from varlen.testing import strategies


@given(strategies.raggeds())
def test_text_is_bounded_and_tells_counts(r):
    line, _, values = repr(r).partition("\n")
    assert line.startswith(f"Ragged({text.plural(len(r), 'sequence')}, ")
    assert text.plural(r.total, "value") in line
    assert str(r.dtype) in line
    assert values.startswith("[")
    assert len(values) <= text.WIDTH


def test_text_of_large_containers_shows_both_ends():
    r = vl.Ragged(np.arange(1_000_000), np.full(1000, 1000))
    assert len(repr(r)) < 500
    assert "[0, 1, 2, 3, ..., 997, 998, 999]" in repr(r)
    assert repr(r).endswith("999999]]")
    deep = vl.Ragged(np.zeros((10**5, 50)), lengths=[np.full(100, 10), np.full(1000, 100)])
    assert len(repr(deep)) <= text.WIDTH + 200


def test_text_of_nothing():
    assert repr(vl.Ragged(np.zeros(0, np.int8), [])) == "Ragged(0 sequences, 0 values, int8)\n[]"
    assert (
        repr(vl.Ragged(np.zeros(0, np.int8), [0, 0]))
        == "Ragged(2 sequences, 0 values, length 0, int8)\n[[], []]"
    )


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.array([0.1, np.nan]), "[0.1, nan]"),
        (np.array([True, False]), "[True, False]"),
        (np.array(["a", "<b>"]), "['a', '<b>']"),
        (np.array(["2020-01-01", "NaT"], "M8[D]"), "[2020-01-01, NaT]"),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
    ],
)
def test_text_shows_values_of_every_kind(values, shown):
    assert repr(vl.Ragged(values, [2])).endswith(f"\n[{shown}]")


@given(strategies.raggeds())
def test_html_is_well_formed_and_needs_no_script(r):
    page = r._repr_html_()
    root = ET.fromstring(page)
    assert "script" not in page
    assert root.tag == "div"
    assert len(root.findall(".//svg")) == sum(len(level) > 0 for level in r.levels)


@given(strategies.lengths(max_rows=20, max_length=200))
def test_picture_counts_every_sequence_once(lengths):
    level = vl.Level(np.array([*lengths, 3], int))
    counts, edges = html.bins(level)
    assert counts.sum() == len(level)
    assert len(counts) <= html.BINS
    assert edges[0] == level.shortest
    assert edges[-1] > level.longest
    shown = [int(n) for n in re.findall(r": (\d+) sequence", html.histogram(level))]
    assert shown == counts.tolist()
    heights = [int(h) for h in re.findall(r'<rect [^>]*height="(\d+)"', html.histogram(level))]
    assert max(heights) == html.HEIGHT
    assert all((h > 0) == (n > 0) for h, n in zip(heights, shown, strict=True))


def test_html_escapes_what_values_say():
    page = vl.Ragged(np.array(["<script>"]), [1])._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
