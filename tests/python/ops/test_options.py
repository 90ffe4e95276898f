"""Options with values of no use: an error that names the option, the same for arrays and tensors."""

import importlib.util
import inspect

import numpy as np
import pytest
import varlen as vl

if importlib.util.find_spec("torch") is None:
    torch = None
else:
    import torch

LEVEL = vl.Level([3, 0, 2])
BAD = {
    "a word": "zz",
    "bytes": b"x",
    "None": None,
    "a dict": {},
    "a set": set(),
    "an object": object(),
    "NaN": float("nan"),
    "infinity": float("inf"),
    "a fraction": 1.5,
    "a bool": True,
    "2**62": 2**62,
    "-2**62": -(2**62),
    "2**70": 2**70,
    "an array": np.array([1.0, 2.0]),
    "a block": np.ones((2, 2, 2)),
    "words": ["a"],
    "a list": [1, 2, 3, 4],
}
if torch is not None:
    BAD["a tensor"] = torch.ones(2, 2)
    BAD["a gradient"] = torch.tensor(2.0, requires_grad=True)
ERRORS = (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError)

# What a verb needs to be called at all, beside the option.
NEEDED = {
    "topk": {"k": 1},
    "shift": {"by": 1},
    "roll": {"by": 1},
    "windows": {"size": 2},
    "sliding_window": {"width": 2},
    "fill_empty_rows": {"default": 0},
}
# Numbers that the verb takes; floats by default.
INTEGERS = {"bincount", "one_hot"}
# Where more is said than True and False, or a dtype or a device has the words of one library.
OF_ONE_KIND = {
    ("to_dense", "mask"),
    ("astype", "dtype"),
    ("to_dense", "dtype"),
    ("to", "device"),
    ("cuda", "device"),
    ("type_as", "other"),
}
NOT_HERE = {"out", "lengths"}  # what is to be written, and rows themselves, have tests of their own


def options_of(verb):
    """The options that alone can be given beside what the verb needs, and their defaults."""
    parameters = list(inspect.signature(verb).parameters.values())[1:]
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    needed = {p.name for p in named if p.default is p.empty} - set(NEEDED.get(verb.__name__, ()))
    return {p.name: p.default for p in named if p.name not in NOT_HERE and needed <= {p.name}}


def outcome(call, **options):
    """The error that was raised, or None; anything but an error for bad arguments is one of the test."""
    try:
        call(**options)
    except ERRORS as error:
        return error
    return None


def names(error, option):
    return option in str(error).partition("\n")[0]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """A folder for verbs that write files."""
    monkeypatch.chdir(tmp_path)


VERBS = {
    name: verb
    for name, verb in inspect.getmembers(vl.Ragged, inspect.isfunction)
    if not name.startswith("_")
    and options_of(verb)
    # which need such a device, and a tensor
    and name not in ("cuda", "backward")
}


def test_most_verbs_are_here():
    assert {"sum", "var", "softmax", "cumsum", "shift", "to_dense", "topk", "sort", "first"} <= set(VERBS)


@pytest.mark.parametrize("name", VERBS)
def test_an_option_is_refused_by_its_name_alike_for_arrays_and_tensors(name):
    numbers = np.arange(5.0 if name not in INTEGERS else 5)
    kinds = [numbers] if torch is None else [numbers, torch.from_numpy(numbers)]
    if torch is not None and numbers.dtype.kind == "f":
        kinds.append(torch.tensor(numbers, requires_grad=True))
    takes_empty = "empty" in inspect.signature(VERBS[name]).parameters
    for option, default in options_of(VERBS[name]).items():
        given = NEEDED.get(name, {}) | ({"empty": 0} if takes_empty else {})
        for what, value in BAD.items():
            if value is default:
                continue
            options = given | {option: dict(value) if type(value) is dict else value}  # which some verbs fill
            found = [outcome(getattr(vl.Ragged(values, LEVEL), name), **options) for values in kinds]
            for error in found:
                assert error is None or names(error, option), (option, what, error)
            if what != "a gradient" and (name, option) not in OF_ONE_KIND:
                assert len({type(error) for error in found}) == 1, (option, what, found)


JOINT = vl.JointNestedRaggedTensorDict({"x": [[1.0, 2.0], [3.0]], "n": np.array([1, 2], np.uint8)})
DATASET = vl.Dataset(JOINT)
BATCHES = {
    "batch": (DATASET.batch, lambda **options: DATASET.batch([0, 1], **options)),
    "Collate": (vl.data.Collate, lambda **options: vl.data.Collate(**options)([np.ones(2), np.ones(3)])),
    "Collate of joints": (
        vl.data.Collate,
        lambda **options: vl.data.Collate(**{"framework": "numpy", **options})([JOINT[0], JOINT[1]]),
    ),
    "to_dense": (JOINT.to_dense, lambda **options: JOINT.to_dense(**options)),
    "flatten": (JOINT.flatten, lambda **options: JOINT.flatten(**options)),
}
if torch is not None:
    BATCHES["Collate of tensors"] = (
        vl.data.Collate,
        lambda **options: vl.data.Collate(**options)([torch.ones(2), torch.ones(3)]),
    )


LOOPS = {
    "epoch": (DATASET.epoch, {"batch_size": 1}),
    "windows": (DATASET.windows, {"max_len": 2}),
    "TokenBudget": (vl.data.TokenBudget, {"lengths": [1, 2, 3], "max_tokens": 4}),
    "LengthBuckets": (vl.data.LengthBuckets, {"lengths": [1, 2, 3], "batch_size": 2}),
    "BatchSampler": (vl.data.BatchSampler, {"lengths": [1, 2, 3], "batch_size": 2}),
    "BinPacking": (vl.data.BinPacking, {"lengths": [1, 2, 3], "size": 4}),
    "WeightedSampler": (vl.data.WeightedSampler, {"lengths": [1, 2, 3], "batch_size": 2}),
    "Mix": (vl.data.Mix, {"sources": {"a": DATASET}, "batch_size": 2}),
}


@pytest.mark.parametrize("name", LOOPS)
def test_an_option_of_loops_is_refused_by_its_name(name):
    maker, given = LOOPS[name]
    for option, parameter in inspect.signature(maker).parameters.items():
        for what, value in BAD.items():
            if value is parameter.default or option == "progress":
                continue
            error = outcome(lambda **options: list(maker(**options)), **given | {option: value})
            assert error is None or names(error, option), (option, what, error)


@pytest.mark.parametrize("name", BATCHES)
def test_an_option_of_batches_is_refused_by_its_name(name):
    maker, call = BATCHES[name]
    for option, parameter in inspect.signature(maker).parameters.items():
        for what, value in BAD.items():
            sizes = option.startswith("pad_to") and what == "2**62"  # limits of memory are said in bytes
            if option == "rows" or value is parameter.default or sizes:
                continue
            error = outcome(call, **{option: value})
            assert error is None or names(error, option), (option, what, error)


def without_gradient(values):
    return values.detach() if hasattr(values, "detach") else values


SIZES = {
    "topk": (lambda r: r.topk(2**62, dense=True), "k"),
    "to_dense": (lambda r: r.to_dense(pad_to_multiple_of=2**62), "pad_to_multiple_of"),
    "pad": (lambda r: vl.ops.pad([r.values, r.values[:2]], 2**62), "pad_to_multiple_of"),
    "Collate": (
        lambda r: vl.data.Collate(pad_to_multiple_of=2**62)([without_gradient(r.values)]),
        "samples: pad_to_multiple_of",
    ),
}


KINDS = {"array": np.ones}
if torch is not None:
    KINDS |= {"tensor": torch.ones, "followed": lambda n: torch.ones(n, requires_grad=True)}


@pytest.mark.parametrize("verb", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_sizes_that_do_not_fit_name_what_asks_for_them(verb, kind):
    call, argument = SIZES[verb]
    values = KINDS[kind](5)
    with pytest.raises(OverflowError, match=rf"^{argument}: .*4611686018427387904.* not fit 63 bits"):
        call(vl.Ragged(values, LEVEL))


def test_numbers_of_sequences_that_memory_does_not_hold_are_named():
    for ids, error in (([0, 2**40], MemoryError), ([0, 2**62], OverflowError)):
        text = f"{ids[1] + 1} sequences do not fit into memory"
        for values in (np.ones(2),) if torch is None else (np.ones(2), torch.ones(2)):
            with pytest.raises(error, match=f"^row_ids: {text}"):
                vl.Ragged.from_row_ids(values, ids)
        with pytest.raises(error, match=f"^segment_ids: {text}"):
            vl.tf.segment_ids_to_row_splits(ids)


def test_moves_inside_graphs_are_refused_as_outside():
    pytest.importorskip("torch")
    x = torch.ones(5)
    for by, error, text in (
        ([1, 2], ValueError, "by: has 2 numbers for 3 sequences"),
        ([1], ValueError, "by: has 1 numbers for 3 sequences"),
    ):
        for verb in ("roll", "shift"):

            def call(x, verb=verb, by=by):
                return getattr(vl.Ragged(x, LEVEL), verb)(by).values

            for each in (call, torch.compile(call, fullgraph=True, backend="aot_eager")):
                with pytest.raises(error, match=text):
                    each(x)


TF = vl.tf
NAMED = [
    (lambda: TF.segment_ids_to_row_splits([2, 0]), ValueError, "^segment_ids: row ids must not decrease"),
    (lambda: TF.segment_ids_to_row_splits([0, 3], 2), ValueError, "^segment_ids: "),
    (lambda: TF.row_splits_to_segment_ids([2, 0]), ValueError, "^splits: offsets must start at 0, got 2"),
    (lambda: TF.range("a"), TypeError, "^starts: expected integers"),
    (lambda: TF.range(0, "a"), TypeError, "^limits: expected integers"),
    (lambda: TF.range([1, 2], [1, 2, 3]), ValueError, "^starts: .* got 2 starts and 3 limits"),
    (
        lambda: TF.range([1, 2], [3, 4], [1, 1, 1]),
        ValueError,
        "^starts: .* got 2 starts and 2 limits and 3 deltas",
    ),
    (lambda: TF.constant([[1]]).with_values(3), ValueError, "^new_values: expected at least one dimension"),
    (lambda: TF.constant([[1]]).with_flat_values(None), TypeError, "^new_values: "),
    (
        lambda: TF.RaggedTensor.from_nested_row_splits(3, [[0, 1]]),
        ValueError,
        "^flat_values: expected at least one dimension",
    ),
    (lambda: TF.range(2**61), OverflowError, "^starts: 2305843009213693952 "),
    (lambda: TF.range(0, 2**61), OverflowError, "^limits: 2305843009213693952 "),
    (lambda: vl.Ragged([1.0], [1]).pack(order=[0, 1]), ValueError, "^order: "),
]
if torch is not None:
    NAMED += [
        (lambda: DATASET.batch(BAD["a gradient"]), TypeError, "^rows: "),
        (lambda: vl.sequence_erase(vl.Ragged([1, 2], [2]), BAD["a gradient"]), ValueError, "^tokens: "),
        (lambda: vl.sequence_mask([1, 2], dtype=torch.ones(2)), TypeError, "^dtype: expected a NumPy dtype"),
    ]


@pytest.mark.parametrize(("call", "error", "text"), NAMED)
def test_errors_name_what_the_caller_gave(call, error, text):
    with pytest.raises(error, match=text):
        call()


R = vl.Ragged([1.0, 2.0, 3.0, 4.0], [3, 1])
# What says nothing where it is given: it is more than there is to say it of, or has no such word.
SAY_NOTHING = {
    "add_level empty": (lambda: R.add_level([2], empty="x"), ValueError, "empty"),
    "add_level inside, empty": (lambda: R.add_level([2, 1, 1], -1, empty="x"), ValueError, "empty"),
    "to_dense max_len": (lambda: R.to_dense(max_len=[1, 2, 3, 4]), ValueError, "max_len"),
    "batch max_len": (lambda: DATASET.batch([0], max_len=[1, 2, 3, 4]), ValueError, "max_len"),
    "batch pad_to": (lambda: DATASET.batch([0], pad_to=[5, 6]), ValueError, "pad_to"),
    "batch pad_to_multiple_of": (
        lambda: DATASET.batch([0], pad_to_multiple_of=(8, 8)),
        ValueError,
        "pad_to_multiple_of",
    ),
    "collator max_len": (lambda: DATASET.collator(max_len=[1, 2])([0]), ValueError, "max_len"),
    "set_num_threads": (lambda: vl.set_num_threads(2**40), ValueError, "n"),
    "set_num_threads, a few more": (lambda: vl.set_num_threads(257), ValueError, "n"),
    "schema of a Joint": (
        lambda: vl.JointNestedRaggedTensorDict({"x": [[1]]}, schema={1: "i4"}),
        TypeError,
        "schema",
    ),
}


@pytest.mark.parametrize("name", SAY_NOTHING)
def test_an_option_that_says_nothing_is_refused(name):
    call, kind, argument = SAY_NOTHING[name]
    before = vl.num_threads()
    with pytest.raises(kind) as raised:
        call()
    assert raised.value.argument == argument
    assert vl.num_threads() == before


@pytest.mark.parametrize("options", [{"foo": 1}, {"widened": True}, {"metadata": [1]}, {"vocabularies": 3}])
def test_options_of_a_folder_of_shards_are_refused_before_it_is_made(options, tmp_path):
    with pytest.raises(TypeError, match=next(iter(options))) as raised:
        vl.io.ShardWriter(tmp_path / "out", 2, **options)
    assert "reason" in vars(raised.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("make", [vl.io.Writer, lambda path, **how: vl.io.ShardWriter(path, 8, **how)])
def test_a_schema_names_keys_that_there_are(make, tmp_path):
    for key in (1, None, ("x",)):
        with pytest.raises(TypeError, match=r"^schema: keys are strings, got "):
            make(tmp_path / "a", schema={key: "f4"})
    writer = make(tmp_path / "a", schema={"x": "f4", "tmie": "f4"})
    writer.append({"x": [[1], [2]]})
    with pytest.raises(ValueError, match=r"^schema: 'tmie' is not among the keys \['x'\]"):
        writer.close()
    assert not list(tmp_path.iterdir())
