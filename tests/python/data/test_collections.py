"""A folder of shards as a Dask bag and a Ray dataset: the same rows in order, over the mapped files."""

import numpy as np
import pytest
import varlen as vl
import varlen.io

pa = pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROWS = {
    "id": list(range(7)),
    "word": [["a"], [], ["b", "a"], [], ["c"], ["a"], []],
    "x": [[[1.5, 2.5]], [], [[3.5], []], [], [[4.5]], [[5.5]], []],
}


@pytest.fixture
def source(tmp_path):
    with varlen.io.ShardWriter(tmp_path / "shards", rows_per_shard=3, row_ids="id") as writer:
        writer.append(ROWS)
    return vl.open(tmp_path / "shards")


def plain(tables):
    return [row for table in tables for row in table.to_pylist()]


def expected(rows=range(7)):
    return [{name: column[i] for name, column in ROWS.items()} for i in rows]


def test_a_bag_of_dask_has_a_table_for_each_shard(source):
    pytest.importorskip("dask.bag")
    bag = source.to_dask()
    tables = bag.compute(scheduler="sync")
    assert [table.num_rows for table in tables] == [3, 3, 1]
    assert plain(tables) == expected() == pa.table(source).to_pylist()
    for shard, table in enumerate(tables):
        ids = table["id"].chunk(0).to_numpy()
        assert np.shares_memory(ids, source.source.values(shard, "id"))  # nothing is copied from the map
    assert bag.map(lambda table: len(table)).compute(scheduler="threads") == [3, 3, 1]


def test_a_bag_goes_to_other_processes_and_back_into_a_folder(source, tmp_path):
    pytest.importorskip("dask.bag")
    bag = source.to_dask()
    assert plain(bag.compute(scheduler="processes", num_workers=1)) == expected()
    varlen.io.build(bag, iter, tmp_path / "built", row_ids="id", engine="dask")
    assert pa.table(vl.open(tmp_path / "built")).to_pylist() == expected()


def test_views_and_memory_are_bags_too(source):
    pytest.importorskip("dask.bag")
    view = source.select([6, 0, 2, 2])
    assert plain(view.to_dask().compute(scheduler="sync")) == expected([6, 0, 2, 2])
    assert plain(vl.Dataset(source[:]).to_dask().compute(scheduler="sync")) == expected()
    none = source.select([]).to_dask().compute(scheduler="sync")
    assert plain(none) == []
    assert none[0].column_names == ["id", "word", "x"]
    with_key = source.with_key("y", np.arange(7))
    assert [row["y"] for row in plain(with_key.to_dask().compute(scheduler="sync"))] == list(range(7))


def test_blocks_of_one_bag_have_one_type(tmp_path):
    pytest.importorskip("dask.bag")
    for i, value in enumerate((1, 1000)):
        vl.JointNestedRaggedTensorDict({"n": [value]}).save(tmp_path / f"{i}.nrt")
    tables = vl.open(tmp_path).to_dask().compute(scheduler="sync")
    assert {table.schema.field("n").type for table in tables} == {pa.uint16()}


@pytest.mark.deep
def test_a_dataset_of_ray_has_blocks_of_arrow(source):
    ray = pytest.importorskip("ray")
    data = pytest.importorskip("ray.data")
    ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=100 << 20, logging_level="ERROR",
        log_to_driver=False,
    )  # fmt: skip
    try:
        data.DataContext.get_current().enable_progress_bars = False
        own = source.to_ray()
        blocks = [ray.get(ref) for ref in own.to_arrow_refs()]
        assert plain(blocks) == expected()
        assert all(isinstance(block, pa.Table) for block in blocks)
        view = source.select([6, 0]).to_ray()
        assert plain(ray.get(ref) for ref in view.to_arrow_refs()) == expected([6, 0])
        assert own.count() == 7
    finally:
        ray.shutdown()
