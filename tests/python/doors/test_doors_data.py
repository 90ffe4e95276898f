"""The doors of datasets, batches, samplers and collate functions: bad input is refused by name and place."""

import numpy as np
import pytest
from doors import INTEGERS, NAN, ODD, OUTPUTS, WHOLE, doors, masked, refuses
from varlen import data
from varlen.data import Buffers, Collate, Dataset, LengthBuckets, Prefetcher, TokenBudget, collate
from varlen.joint import JointNestedRaggedTensorDict as Joint
from varlen.types import Ragged

RAW = {"s": [7, 8, 9], "t": [[1.5, 2], [], [3]], "c": [[[1], [2, 3]], [], [[4]]]}


def example(**options):
    return Dataset(Joint(RAW, **options))


def held(how, tmp_path):
    import varlen

    if how == "memory":
        return example(row_ids="s")
    if how == "parts":
        J = Joint(RAW, row_ids="s")
        return Dataset([J[:1], J[1:]])
    example_path = tmp_path / "a.nrt"
    Joint(RAW, row_ids="s").save(example_path)
    return varlen.open(example_path, mmap=how == "mapped")


@pytest.fixture(params=["memory", "parts", "mapped", "read"])
def ds(request, tmp_path):
    return held(request.param, tmp_path)


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (None, TypeError, "source: expected a JointNestedRaggedTensorDict, got NoneType"),
        ({1}, TypeError, "source: expected a JointNestedRaggedTensorDict, got set"),
        ([Joint(RAW), 3], TypeError, r"source\[1\]: expected a JointNestedRaggedTensorDict, got int"),
        ([Joint(RAW), Joint({"s": [1]})], ValueError, "part 1: has no key 'c', which other parts have"),
        ([Joint({"s": [1]}), Joint({"s": [[1]]})], ValueError, "part 1: 's' lies at dim 1"),
        (
            [Joint({"w": ["x"]}, schema={"w": str}), Joint({"w": ["y"]}, schema={"w": str})],
            ValueError,
            "part 1: 'w' has another vocabulary than the parts before: id 1 is 'y', not 'x'; .*concatenate",
        ),
    ],
)
def test_parts_go_together(source, error, text):
    refuses(Dataset, source, error, text)


def test_vocabularies_of_parts_may_go_on():
    words = [Joint({"w": w}, vocabularies={"w": v}) for w, v in ((["x"], ["x"]), (["y", "x"], ["x", "y"]))]
    assert Dataset(words).batch([0, 1, 2])["w"].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        (1, TypeError, "rows: expected one dimension, got 0"),
        ([[0]], TypeError, "rows: expected one dimension, got 2; a sampler of batches"),
        ([0, 1.0], TypeError, "rows: expected integers, got dtype float64"),
        (["a"], TypeError, "rows: expected integers, got dtype <U1"),
        ([0, None], TypeError, "rows: expected integers, got dtype object"),
        ([0, 2**70], TypeError, "rows: expected integers, got dtype object"),
        ([0, 3], IndexError, "rows: index 3 at position 1 is out of range for 3 rows"),
        ([-4], IndexError, "rows: index -4 at position 0 is out of range for 3 rows"),
        (
            np.array([0, 2**64 - 1], "u8"),
            IndexError,
            f"rows: index {2**64 - 1} at position 1",
        ),
        ([True], IndexError, "rows: a mask of 1 for 3 rows"),
        (masked((0, 1)), TypeError, "rows: expected an array without a mask"),
        (np.ma.array([True] * 3, mask=[1, 0, 0]), TypeError, "rows: expected an array without a mask"),
    ],
)
def test_rows_are_those_that_there_are(ds, rows, error, text):
    refuses(ds.batch, rows, error, text)
    if np.ndim(rows):
        refuses(lambda r: ds[r], rows, error, text)


@pytest.mark.parametrize("rows", [[2, 0, -1], (2, 0, -1)], ids=str)
@pytest.mark.parametrize("lay", ODD.values(), ids=ODD)
def test_odd_memory_gives_what_plain_memory_gives(ds, rows, lay):
    if lay is ODD["uint8"]:
        rows = [2, 0, 2]
    want = ds.batch(np.array(rows))["c"].tolist()
    assert ds.batch(lay(rows))["c"].tolist() == want
    cut = {"start": lay([0, 1, 0]), "end": lay([1, 2, 1])}
    assert ds.batch(rows, **cut)["t"].tolist() == [[3.0], [2.0], [3.0]]
    assert ds.rows_of(lay([9, 7])).tolist() == [2, 0]


@pytest.mark.parametrize("argument", ["start", "end"])
@pytest.mark.parametrize(("given", "error", "text"), INTEGERS)
def test_windows_are_integers(ds, argument, given, error, text):
    refuses(lambda x: ds.batch([0, 2], **{argument: x}), given, error, f"{argument}: .*{text}")


def test_windows_are_one_a_row(ds):
    refuses(lambda x: ds.batch([0, 2], start=x), [1], ValueError, "start: has 1 entries for 2 rows")
    extreme = ds.batch([0, 2], start=[-(2**63), 0], end=[2**63 - 1, -1])
    assert extreme["t"].tolist() == [[1.5, 2.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        WHOLE,
        max_len=lambda x: example().batch([0], max_len=x),
        pad_to=lambda x: example().batch([0], pad_to=[x]),
        pad_to_multiple_of=lambda x: example().batch([0], pad_to_multiple_of=(None, x)),
        max_bytes=lambda x: example().batch([0], max_bytes=x),
        epoch=lambda x: example().batch([0], max_len=1, window="random", seed=1, epoch=x),
        dim=lambda x: example().lengths_at(x),
        stride=lambda x: example().windows(2, x),
        batch_size=lambda x: example().epoch(x),
        prefetch=lambda x: example().epoch(1, prefetch=x),
        depth=lambda x: Prefetcher(lambda item, out: item, [1], depth=x),
        threads=lambda x: Prefetcher(lambda item, out: item, [1], threads=x),
        max_tokens=lambda x: TokenBudget([1, 2], x),
        max_batch=lambda x: TokenBudget([1, 2], 9, max_batch=x),
        bucket_size=lambda x: LengthBuckets([1, 2], 1, bucket_size=x),
        **{
            "max_len of windows": lambda x: example().windows(x),
            "epoch of an epoch": lambda x: example().epoch(1, epoch=x),
            "epoch of a sampler": lambda x: LengthBuckets([1, 2], 1).set_epoch(x),
            "epoch of a collator": lambda x: example().collator().set_epoch(x),
            "batch_size of buckets": lambda x: LengthBuckets([1, 2], x),
            "max_len of a budget": lambda x: TokenBudget([1, 2], 9, max_len=x),
            "max_len of collate": lambda x: Collate(max_len=x),
            "pad_to_multiple_of of collate": lambda x: Collate(pad_to_multiple_of=x),
        },
    ),
)
def test_numbers_are_whole(door, given, error, text):
    refuses(door, given, error, text)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"keys": "t"}, TypeError, "keys: expected a list of keys, got str"),
        ({"keys": 3}, TypeError, "keys: expected a list of keys, got int"),
        ({"keys": ["t", "z"]}, KeyError, r"keys: 'z' is not one of \['c', 's', 't'\]"),
        ({"window": "middle", "max_len": 1}, ValueError, "window: expected None, 'from_start'"),
        ({"window": "random"}, ValueError, "window: 'random' needs max_len"),
        ({"window": "random", "max_len": 1, "seed": "a"}, TypeError, "seed: expected an int, .* got str"),
        ({"window": "random", "max_len": 1, "seed": True}, TypeError, "seed: expected an int, .* got bool"),
        ({"padding_side": None}, ValueError, "padding_side: expected 'left' or 'right', got None"),
        (
            {"layout": "flat"},
            ValueError,
            "layout: expected 'padded', .* got 'flat'",
        ),
        ({"framework": "jax"}, ValueError, "framework: expected 'numpy', 'torch', 'cupy' or None, got 'jax'"),
        ({"fill": {"c": 300}}, ValueError, "fill of 'c': 300 does not fit uint8"),
        ({"fill": {"c": NAN}}, ValueError, "fill of 'c': nan does not fit uint8"),
        ({"fill": {"c": [1, 2]}}, ValueError, r"fill of 'c': expected one number, got shape \(2,\)"),
        ({"fill": {"z": 0}}, KeyError, "fill: 'z' is not one of"),
        ({"dtype": {"z": "f4"}}, KeyError, "dtype: 'z' is not one of"),
        ({"dtype": {"t": object}}, TypeError, "dtype of 't': object holds Python objects"),
        ({"dtype": {"t": int}}, ValueError, r"'t' row 0 .*; give dtype=\{'t': ...\}"),
        ({"nan": {"c": 0}}, ValueError, "nan: 'c' is uint8, which has no NaN"),
        (
            {"pad_to": 1},
            ValueError,
            "pad_to: .* axis 1 takes 2 slots, over 1; give max_len",
        ),
        ({"pad_to": 2**40}, ValueError, r"\(2, 1099511627776\).* over max_bytes=.*; give max_len"),
        ({"pad_to_multiple_of": 2**62}, OverflowError, "does not fit 63 bits"),
        (
            {"layout": "ragged", "pad_to": 3},
            ValueError,
            "pad_to: does not apply: a ragged batch has no padding",
        ),
        (
            {"layout": "ragged", "max_len": [1, 2]},
            ValueError,
            "max_len: a ragged batch cuts only its first axis",
        ),
        ({"max_bytes": 5}, ValueError, r"dim1/mask: .*\(2, 2\).* 6 bytes, over max_bytes=5; give max_len"),
        ({"prefix": 3}, TypeError, "prefix: expected a JointNestedRaggedTensorDict, got int"),
        ({"prefix": {"z": [1]}}, KeyError, "prefix: 'z' is not a key of the batch"),
        ({"prefix": {"t": 1}}, TypeError, "prefix: 't' needs a list of numbers"),
        ({"prefix": {"t": ["a"]}}, TypeError, "prefix: 't' needs a list of numbers"),
        ({"prefix": {"t": [1, None]}}, TypeError, "prefix: 't' needs a list of numbers"),
        ({"prefix": {"t": masked((1.0, 2.0))}}, TypeError, "prefix: expected an array without a mask"),
        ({"suffix": Joint({"t": [[1.0]] * 4})}, ValueError, "suffix: has 4 records for 2 rows"),
        ({"suffix": Joint({"t": [[[1.0]]]})}, ValueError, "suffix: its keys have dims"),
        ({"out": 3}, TypeError, "out: expected a dict from names to arrays, got int"),
        ({"out": {"z": np.zeros(4)}}, ValueError, "out: the batch has no 'z'"),
        (
            {"out": {"t": np.zeros((1, 2), "f4")}},
            ValueError,
            r"out\['t'\]: has room for 2 entries, .* needs 4",
        ),
        (
            {"out": {"t": np.ma.zeros((2, 2), "f4")}},
            TypeError,
            r"out\['t'\]: expected an array without a mask",
        ),
    ],
)
def test_batches_name_options_that_do_not_fit(ds, options, error, text):
    refuses(lambda x: ds.batch([0, 2], **x), options, error, text)


@pytest.mark.parametrize(("out", "error", "text"), OUTPUTS)
def test_batches_are_written_where_they_fit(out, error, text):
    ds = Dataset(Joint({"t": [[1, 2, 3], [4, 5]]}, schema={"t": np.int64}))
    refuses(lambda o: ds.batch([0, 1], out={"t": o}), out, error, rf"out\['t'\]: .*({text})")


def test_outputs_do_not_share_memory():
    values = np.arange(8, dtype=np.float32)
    ds = Dataset(Joint(processed_tensors={"dim1/bounds": np.array([2, 3]), "dim1/t": values[:3]}))
    for into in (values[:4], values[2:6]):
        refuses(lambda o: ds.batch([1, 0], out={"t": o}), into, ValueError, r"out\['t'\]: shares", values)
    assert ds.batch([1, 0], out={"t": values[4:]})["t"].tolist() == [[2, 0], [0, 1]]
    two, both = Dataset(Joint({"a": [[1, 2]], "b": [[3, 4]]})), np.full(4, 7, np.uint8)
    refuses(
        lambda o: two.batch([0], out={"a": o, "b": o}), both, ValueError, r"out\['b'\]: .* another output"
    )
    result = two.batch([0], out={"a": both[:2], "b": both[2:]})
    assert (result["a"].tolist(), result["b"].tolist()) == ([[1, 2]], [[3, 4]])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, ValueError, "batch_size: pass either batch_size or batches"),
        ({"batches": 3}, TypeError, "batches: expected batches of row numbers, got int"),
        ({"batch_size": 1, "seed": "a"}, TypeError, "seed: expected an int, a Generator or None; got str"),
        ({"batch_size": 1, "seed": -1}, ValueError, "seed: expected at least 0, got -1"),
        ({"batch_size": 1, "max_len": -1}, ValueError, "max_len: expected at least 0, got -1"),
    ],
)
def test_epochs_name_what_does_not_fit(options, error, text):
    refuses(lambda x: example().epoch(**x), options, error, text)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Prefetcher(None, [1]), TypeError, "make: expected a function, got NoneType"),
        (lambda: Prefetcher(print, None), TypeError, "items: expected an iterable, got NoneType"),
        (lambda: Prefetcher(print, [1], threads=3), ValueError, "threads: expected 1 to depth=2, got 3"),
        (lambda: Buffers(-1), ValueError, "slack: expected 0 to 1000, got -1"),
        (lambda: Buffers(float("inf")), ValueError, "slack: expected 0 to 1000, got inf"),
        (lambda: Buffers("a"), TypeError, "slack: expected a number, got 'a'"),
        (lambda: LengthBuckets([1], 1, buckets=[NAN]), ValueError, "buckets: expected lengths, got nan"),
        (lambda: LengthBuckets([1], 1, buckets=["a"]), TypeError, "buckets: expected lengths, got dtype <U1"),
        (
            lambda: LengthBuckets([1], 1, num_replicas=1.5),
            TypeError,
            "num_replicas: expected an int, got 1.5",
        ),
        (lambda: LengthBuckets([1], 1, rank=1.5), TypeError, "rank: expected an int, got 1.5"),
        (lambda: LengthBuckets([1], 1, seed="a"), TypeError, "seed: expected an int, got 'a'"),
        (lambda: LengthBuckets([2**62, 2**62], 1), OverflowError, "lengths: the sizes up to row 1"),
        (lambda: TokenBudget([1, 20], 9), ValueError, "lengths: row 1 has 20 tokens, over max_tokens=9"),
        (lambda: example().rows_of([7]), ValueError, "ids: these rows have no ids"),
        (lambda: example().collate(None), TypeError, "samples: expected a list of rows, got NoneType"),
        (lambda: example().collate([None]), TypeError, r"samples\[0\]: expected a Joint.*, got NoneType"),
        (
            lambda: example().collate(example().__getitems__([0, 9])),
            IndexError,
            "rows: index 9 at position 1",
        ),
        (lambda: Collate(framework="jax"), ValueError, "framework: expected 'numpy', 'torch' or None"),
        (lambda: Collate(framework="cupy"), ValueError, "framework: expected 'numpy', 'torch' or None"),
        (lambda: Collate(padding_side="up"), ValueError, "padding_side: expected 'left' or 'right'"),
    ],
)
def test_makers_name_what_does_not_fit(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_many_replicas_cost_nothing():
    sampler = LengthBuckets([1, 2, 3], 2, shuffle=False, num_replicas=2**40, rank=2**40 - 1)
    assert list(sampler) == [[2]]


@pytest.mark.parametrize("make", [lambda x: LengthBuckets(x, 2), lambda x: TokenBudget(x, 9)])
@pytest.mark.parametrize(("given", "error", "text"), INTEGERS)
def test_samplers_take_integers(make, given, error, text):
    refuses(make, given, error, f"lengths: .*{text}")


@pytest.mark.parametrize(
    ("ids", "error", "text"),
    [
        ([7, 99], KeyError, "ids: 99 at position 1 is no row's id"),
        ([7.5], KeyError, "ids: 7.5 at position 0"),
        (["a"], KeyError, "ids: a at position 0"),
        ([7, None], TypeError, "ids: expected integers or strings, position 1 holds NoneType"),
        (masked((7, 8)), TypeError, "ids: expected an array without a mask"),
    ],
)
def test_ids_are_those_of_rows(ds, ids, error, text):
    refuses(ds.rows_of, ids, error, text)


@pytest.mark.parametrize(
    ("samples", "error", "text"),
    [
        (None, TypeError, "samples: expected a list of samples, got NoneType"),
        ([], ValueError, "samples: a batch needs at least one"),
        ([{"a": 1}, {"b": 1}], ValueError, r"samples\[1\]: has \['b'\], samples\[0\] has \['a'\]"),
        ([{"a": 1}, 3], ValueError, r"samples\[1\]: has int"),
        ([(1,), (1, 2)], ValueError, r"samples\[1\]: expected a tuple of 1"),
        (
            [{"a": 1}, {"a": None}],
            ValueError,
            r"samples\[1\]\['a'\]: is null; give Collate\(nulls='fill'\)",
        ),
        ([{"a": 1}, {"a": "x"}], TypeError, r"samples\[1\]\['a'\]: expected a number, got str"),
        ([{"a": 2**70}], OverflowError, rf"samples\[0\]\['a'\]: {2**70} does not fit"),
        ([{"a": 1}, {"a": [1]}], (ValueError, TypeError), r"samples\[1\]\['a'\]: "),
        ([{"a": [1]}, {"a": [1, None]}], ValueError, r"samples\[1\]\['a'\]\[1\]: is null"),
        (
            [{"a": [1]}, {"a": [1, "x"]}],
            TypeError,
            r"samples\[1\]\['a'\]\[1\]: expected a number, got str",
        ),
        ([{"a": [2**70]}], OverflowError, rf"samples\[0\]\['a'\]\[0\]: {2**70} does not fit"),
        ([{"a": np.array([None])}], TypeError, r"samples\[0\]\['a'\]: arrays of Python objects"),
        ([{"a": masked()}], ValueError, r"samples\[0\]\['a'\]\[1\]: is null"),
        ([{"a": np.ones((1, 2))}, {"a": np.ones((1, 3))}], ValueError, r"samples\[1\]\['a'\]: has shape"),
        ([{"a": {"b": [1]}}, {"a": {"b": "x"}}], TypeError, r"samples\[1\]\['a'\]\['b'\]: "),
    ],
)
def test_samples_are_alike(samples, error, text):
    refuses(collate, samples, error, text)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"fill": 1.5}, ValueError, r"samples\['a'\]: fill: 1.5"),
        ({"fill": "x"}, (ValueError, TypeError), r"samples\['a'\]: fill: "),
        ({"dtype": object}, TypeError, r"samples\['a'\]: dtype: object holds Python objects"),
        ({"dtype": "i1"}, OverflowError, r"samples\[0\]\['a'\].*\[1\]: 300 does not fit int8"),
    ],
)
def test_collate_names_options_that_do_not_fit(options, error, text):
    for samples in ([{"a": [1, 300]}, {"a": [2]}], [{"a": [[1, 300], [2]]}, {"a": [[2]]}]):
        refuses(Collate(**options), samples, error, text)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            Ragged.from_list([[1, 2], [3]]),
            r"got Ragged; give it a name: JointNestedRaggedTensorDict\({'x': ragged}\)",
        ),
        ("visits.nrt", r"got str; varlen.open\(...\) opens files"),
    ],
)
def test_sources_of_other_kinds_say_what_to_do(source, text):
    refuses(Dataset, source, TypeError, f"source: expected a JointNestedRaggedTensorDict, {text}")
    refuses(lambda x: Dataset([Joint(RAW), x]), source, TypeError, rf"source\[1\]: expected .*{text}")


ROWS = [{"t": [0.5, 1.5], "sex": "f"}, {"t": [], "sex": "m"}, {"t": [2.0], "sex": "f"}]


def test_rows_as_dicts_are_a_joint_dict_and_a_data_set():
    columns = {"t": [[0.5, 1.5], [], [2.0]], "sex": ["f", "m", "f"]}
    for make in (Joint, Dataset):
        for source in (ROWS, tuple(ROWS), columns):
            assert make(source)[:].to_list() == Joint(columns).to_list()
    assert Joint(ROWS).vocabularies == Joint(columns).vocabularies
    text = r"source\[1\]: expected a JointNestedRaggedTensorDict, got dict; JointNested"
    refuses(Dataset, [Joint(columns), ROWS[0]], TypeError, text)
    refuses(Dataset, [{}, {}], ValueError, r"raw_tensors\[0\]: has no keys")


@pytest.mark.parametrize("make", [Joint, Dataset])
@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"t": []}, r"raw_tensors\[3\]: has \['t'\], raw_tensors\[0\] has \['sex', 't'\]; 'sex' is missing"),
        ({"t": [], "sex": "f", "age": 3}, r"raw_tensors\[3\]: has .*; raw_tensors\[0\] lacks 'age'"),
        ([1, 2], r"raw_tensors\[3\]: has list, raw_tensors\[0\] has \['sex', 't'\]"),
    ],
)
def test_rows_whose_keys_differ_are_refused(make, row, text):
    refuses(make, [*ROWS, row], ValueError, text)


def test_a_key_gives_its_values_for_all_rows(ds):
    assert ds["c"].to_list() == ds[:]["c"].to_list() == RAW["c"]
    refuses(lambda x: ds[x], "z", KeyError, r"'z' is no key of these rows; there are \['c', 's', 't'\]")


def test_a_number_is_no_batch(ds):
    refuses(ds.batch, 0, TypeError, r"rows: expected one dimension, got 0; a batch of one row is \[0\]")
    refuses(ds.batch, np.int32(-2), TypeError, r"a batch of one row is \[-2\]")


def test_samplers_take_what_has_lengths(ds):
    want = [[1, 2, 0]]
    assert list(TokenBudget([2, 0, 1], 6, shuffle=False)) == want
    for given in (ds, ds[:]["t"], ds[:], ds[:]["t"].levels[0]):
        assert list(TokenBudget(given, 6, shuffle=False)) == want
        assert list(LengthBuckets(given, 3, shuffle=False)) == want
    flat = Dataset(Joint({"s": [1, 2]}))
    refuses(lambda x: TokenBudget(x, 4), flat, ValueError, "lengths: every key has dim 0, so rows")


MANY = {
    "threads of a loader": (
        lambda ds: data.Loader(ds, 1, prefetch=2**19, threads=2**18),
        "threads",
    ),
    "threads of a prefetcher": (lambda ds: Prefetcher(len, ds, depth=2**19, threads=2**18), "threads"),
    "slack of buffers": (lambda ds: Buffers(slack=1e300), "slack"),
    "ranks of a loop": (lambda ds: data.check_loop(len, ds, ranks=[2**40]), "ranks"),
    "workers of a loop": (lambda ds: data.check_loop(len, ds, workers=[2**40]), "workers"),
}


@pytest.mark.parametrize(("call", "argument"), MANY.values(), ids=MANY)
def test_more_threads_or_batches_than_fit_are_refused(call, argument, tmp_path):
    path = tmp_path / "a.nrt"
    Joint({"x": [[1, 2], [3]]}).save(path)
    with pytest.raises(ValueError, match=f"^{argument}: expected (at most|0 to) ") as raised:
        call(data.open(path))
    assert raised.value.argument == argument
    assert raised.value.number > 1000
