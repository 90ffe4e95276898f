"""The benchmark table: every row's contenders agree with its reference. Nothing is timed."""

import json
import re
import sys
from xml.etree import ElementTree

import pytest
from house import ROOT

sys.path.insert(0, str(ROOT))  # the benchmarks stand beside the package, not inside it

from benchmarks import harness, pictures, report
from benchmarks.__main__ import main
from benchmarks.python import load

load()


@pytest.mark.parametrize("name", harness.ROWS)
def test_contenders_agree_with_the_reference(name):
    with harness.opened(harness.ROWS[name], tiny=True) as case:
        harness.check(case)
        assert case.goals
    ours = [why for who, why in case.skipped.items() if harness.is_ours(who)]
    if ours:
        pytest.skip(ours[0])


@pytest.mark.parametrize("name", harness.ROWS)
def test_goals_are_read_off_where_no_peer_is_installed(name, monkeypatch):
    monkeypatch.setattr(harness, "why_missing", lambda module: f"{module} is not installed")
    with harness.opened(harness.ROWS[name], tiny=True) as case:
        times = harness.Times({key: [1.0] for key in [*case.runs, *case.yardsticks]})
        harness.result_of(harness.ROWS[name], case, times, 0.0)


@pytest.mark.parametrize(
    "module", ["awkward", "fbgemm_gpu", "numba", "polars", "pyarrow", "spacy", "thinc", "torch"]
)
def test_peer_is_compared(module):
    """Where a peer is absent its contenders were left out above; this is where that is said."""
    why = harness.why_missing(module)
    if why:
        pytest.skip(why)
    assert module in sys.modules


def test_a_wrong_result_is_refused():
    case = harness.Case(reference=[1, 2])
    case.contender("peer")(lambda: lambda: [1, 3])
    with pytest.raises(AssertionError, match="peer: the result"):
        harness.check(case)


def test_poison_shows_what_was_not_written():
    case = harness.Case(reference=[0, 0])
    out = case.buffer(2, "i8")
    case.contender("peer", show=lambda _: out)(lambda: lambda: None)
    with pytest.raises(AssertionError, match="peer: the result"):
        harness.check(case)


def test_ratio_is_taken_inside_each_round():
    times = harness.Times(a=[10.0, 40.0, 30.0], b=[5.0, 10.0, 10.0])
    assert times.ratio("a", "b") == (3.0, 2.0, 4.0)
    assert times.ratio("a", "b", less=10.0) == (2.0, 0.0, 3.0)


def test_figures_go_to_json_and_into_the_page(tmp_path, capsys):
    page, figures = tmp_path / "page.md", tmp_path / "all.json"
    page.write_text(f"head\n{report.BEGIN}\nold\n{report.END}\ntail\n")
    options = ["--rows", "^offsets$", "--quick", "--rounds", "1", "--json", str(figures)]
    assert main([*options, "--report", str(page)]) == 0
    assert "offsets" in capsys.readouterr().out
    written = page.read_text()
    assert written.startswith(f"head\n{report.BEGIN}\n\n### calls\n\n:::{{dropdown}} 1 row, ")
    assert written.endswith(f"{report.END}\ntail\n")
    assert "old" not in written
    assert [entry["name"] for entry in json.loads(figures.read_text())["rows"]] == ["offsets"]
    page.write_text(f"{report.BEGIN}{report.END}")
    assert main(["--from", str(figures), "--report", str(page)]) == 0
    assert "| <= 0.25 ns a row |" in page.read_text()


def test_a_run_of_some_rows_leaves_the_others_of_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"{report.BEGIN}{report.END}")
    options = ["--quick", "--rounds", "1", "--report", str(page), "--rows"]
    figures = tmp_path / "all.json"
    assert main([*options, "^offsets$", "--json", str(figures)]) == 0
    whole = {**json.loads(figures.read_text()), "is_part": False}
    report.write_report(whole, page)
    assert "Measured later" not in page.read_text()
    old = page.read_text().splitlines()
    assert main([*options, "^index.pairs$"]) == 0
    written = page.read_text()
    assert written.index("### indexing") < written.index("### calls")
    assert set(old) - set(written.splitlines()) == set()
    assert written.count("Measured later: rows of indexing.") == 1
    assert main([*options, "^(offsets|index.pairs)$", "--busy"]) == 0
    assert page.read_text().count("r[rows, columns]") == 1
    assert "a shared machine: rows of calls, indexing." in page.read_text()
    with pytest.raises(ValueError, match=r"the page has figures of .*, this run of another; run all rows"):
        report.write_report({**whole, "is_part": True, "machine": {"cpu": "another"}}, page)


def test_titles_tell_rows_apart():
    titles = [row.title for row in harness.ROWS.values()]
    assert len(set(titles)) == len(titles)


def test_every_row_has_a_chapter_of_the_page():
    assert [name for name in harness.ROWS if report.chapter_of(name) not in report.CHAPTERS] == []
    assert {report.chapter_of(name) for name in harness.ROWS} == set(report.CHAPTERS)


def test_pictures_show_every_ratio_of_the_page(tmp_path):
    page = ROOT / "docs/speed.md"
    peers, floors = pictures.read(page.read_text())
    told = [line.rsplit("|", 2)[1] for line in page.read_text().splitlines() if line.startswith("| ")]
    assert sum(map(len, peers.values())) == sum(bool(re.match(r" \d+\.\d+x", cell)) for cell in told) > 100
    assert {"loops", "sets", "packing"} <= set(peers)
    assert sum(map(len, floors.values())) > 40
    pictures.main([str(page), str(tmp_path)])
    for path in sorted(tmp_path.iterdir()):
        drawn = ElementTree.parse(path).getroot()
        dots = [node for node in drawn.iter() if node.tag.endswith("circle")]
        assert len(dots) == sum(map(len, (peers if "peers" in path.name else floors).values()))
        assert path.read_text() == (ROOT / "docs/pictures" / path.name).read_text(), path.name


def test_rows_that_match_nothing_are_misuse(capsys):
    assert main(["--rows", "no such row"]) == 2
    assert "no row matches 'no such row'" in capsys.readouterr().err
