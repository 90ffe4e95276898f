"""Tables of Arrow as a hostile producer fills them in: each is read or refused, and let go once."""

import ctypes
import gc

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.errors import type_error
from varlen.interop import arrow_parts

PLACE = ctypes.c_void_p
RELEASE = ctypes.CFUNCTYPE(None, PLACE)
ROOM = 4096  # bytes of each buffer: more than any of these arrays may read


class Schema(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", PLACE),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", PLACE),
        ("dictionary", PLACE),
        ("release", RELEASE),
        ("private_data", PLACE),
    )


class Array(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", PLACE),
        ("children", PLACE),
        ("dictionary", PLACE),
        ("release", RELEASE),
        ("private_data", PLACE),
    )


CALL = ctypes.CFUNCTYPE(ctypes.c_int, PLACE, PLACE)
LAST_ERROR = ctypes.CFUNCTYPE(PLACE, PLACE)


class Stream(ctypes.Structure):
    _fields_ = (
        ("get_schema", CALL),
        ("get_next", CALL),
        ("get_last_error", LAST_ERROR),
        ("release", RELEASE),
        ("private_data", PLACE),
    )


def capsule(table, name):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (PLACE, ctypes.c_char_p, PLACE)
    return new(ctypes.addressof(table), name, None)


class Producer:
    """An object that exports a tree of tables, and counts how often the array is let go."""

    def __init__(self, tree):
        self.releases = 0
        self.kept = []
        self.schema, self.array = Schema(), Array()
        self.fill(self.schema, self.array, tree)

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def fill(self, schema, array, tree):
        children = tree.get("children", ())
        tables = [(self.keep(Schema()), self.keep(Array())) for _ in children]
        for pair, child in zip(tables, children, strict=True):
            self.fill(*pair, child)
        if (words := tree.get("dictionary")) is not None:
            pair = self.keep(Schema()), self.keep(Array())
            self.fill(*pair, words)
            schema.dictionary, array.dictionary = map(ctypes.addressof, pair)
        buffers = [self.buffer(numbers) for numbers in tree.get("buffers", ())]
        schema.format, schema.name = tree["format"], tree.get("name", b"x")
        for table, places in zip(
            (schema, array), zip(*tables, strict=True) if tables else ((), ()), strict=True
        ):
            table.children = self.places(map(ctypes.addressof, places))
            table.n_children = len(places)
        array.buffers, array.n_buffers = self.places(buffers), len(buffers)
        array.length, array.offset = tree.get("length", 0), tree.get("offset", 0)
        array.null_count = tree.get("null_count", 0)
        schema.release, array.release = (
            self.keep(RELEASE(self.let_go_of(Schema))),
            self.keep(RELEASE(self.let_go)),
        )
        for table in (schema, array):
            for name, value in tree.get("lies", {}).items():
                if name == "child":
                    table.children = self.places([None] * max(value, 1))
                elif hasattr(table, name):
                    setattr(table, name, type(getattr(table, name))(0) if name == "release" else value)

    def let_go_of(self, kind):
        def let_go(place):
            kind.from_address(place).release = RELEASE(0)

        return let_go

    def let_go(self, place):
        Array.from_address(place).release = RELEASE(0)
        self.releases += 1

    def places(self, addresses):
        addresses = list(addresses)  # and nothing behind them, where there is said to be more
        return ctypes.addressof(self.keep((PLACE * (len(addresses) + 8))(*addresses))) if addresses else None

    def buffer(self, numbers):
        if numbers is None:
            return None
        raw = np.asarray(numbers).tobytes()
        return ctypes.addressof(self.keep(ctypes.create_string_buffer(raw, max(ROOM, len(raw)))))

    def __arrow_c_array__(self, requested_schema=None):
        return capsule(self.schema, b"arrow_schema"), capsule(self.array, b"arrow_array")


class Batches:
    """An object that exports a stream of arrays, each with a tree, and counts how often it is let go.

    schema_code, next_code: what the functions answer, from array number `fails_at` on. text: its last error.
    """

    def __init__(self, *trees, schema_code=0, next_code=0, fails_at=0, text=b"no more", without=()):
        self.sources = [Producer(tree) for tree in trees]
        self.releases, self.number = 0, 0
        self.text = None if text is None else ctypes.create_string_buffer(text)

        def get_schema(stream, place):
            if schema_code == 0:
                self.move(self.sources[0].schema, Schema, place)
            return schema_code

        def get_next(stream, place):
            if next_code and self.number >= fails_at:
                return next_code
            if self.number == len(self.sources):
                Array.from_address(place).release = RELEASE(0)
                return 0
            self.move(self.sources[self.number].array, Array, place)
            self.number += 1
            return 0

        def release(place):
            Stream.from_address(place).release = RELEASE(0)
            self.releases += 1

        self.stream = Stream(
            CALL(get_schema),
            CALL(get_next),
            LAST_ERROR(lambda _: None if self.text is None else ctypes.addressof(self.text)),
            RELEASE(release),
        )
        self.functions = self.stream.get_schema, self.stream.get_next, self.stream.get_last_error
        for name in without:
            setattr(self.stream, name, type(getattr(self.stream, name))(0))

    def move(self, table, kind, place):
        ctypes.memmove(place, ctypes.addressof(table), ctypes.sizeof(kind))
        table.release = RELEASE(0)

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule(self.stream, b"arrow_array_stream")


def numbers(length=5, **more):
    return {"format": b"i", "length": length, "buffers": [None, np.arange(length, dtype=np.int32)], **more}


def lists(offsets=(0, 2, 5), child=None, **more):
    offsets = np.array(offsets, np.int32)
    tree = {"format": b"+l", "length": len(offsets) - 1, "buffers": [None, offsets]}
    return tree | {"children": [numbers() if child is None else child]} | more


def texts(offsets=(0, 2, 5), raw=b"tobee", form=b"u", **more):
    offsets = np.array(offsets, np.int64 if form in (b"U", b"Z") else np.int32)
    buffers = [None, offsets, np.frombuffer(raw, np.uint8)]
    return {"format": form, "length": len(offsets) - 1, "buffers": buffers, **more}


def views(*rows, raw=b"a word of more than twelve bytes", sizes=None, **more):
    flat = np.array(rows, np.int32)
    sizes = np.array([len(raw)] if sizes is None else sizes, np.int64)
    return {
        "format": b"vu",
        "length": len(rows),
        "buffers": [None, flat, np.frombuffer(raw, np.uint8), sizes],
        **more,
    }


def list_views(offsets, sizes, **more):
    sizes = None if sizes is None else np.array(sizes, np.int32)
    tree = {"format": b"+vl", "length": len(offsets), "buffers": [None, np.array(offsets, np.int32), sizes]}
    return tree | {"children": [numbers()]} | more


@pytest.fixture(autouse=True)
def _no_pyarrow(monkeypatch):
    """Arrow's own library would read these tables, too, and believe them."""

    def refuse(source, name, nulls):
        raise type_error(name, "to read this type needs pyarrow")

    monkeypatch.setattr(arrow_parts, "_by_pyarrow", refuse)


def test_an_honest_producer_is_read_and_let_go_once():
    source = Producer(lists())
    r = vl.Ragged(source)
    assert r.to_list() == [[0, 1], [2, 3, 4]]
    assert source.releases == 0
    values = r.values
    del r
    gc.collect()
    assert source.releases == 0
    del values
    gc.collect()
    assert source.releases == 1
    with pytest.raises(ValueError, match="is empty: it was read before"):
        vl.Ragged(source)
    assert source.releases == 1


def test_texts_are_read():
    offsets = [0, 1, 2]
    for words in (texts(), texts(form=b"U")):
        assert vl.Ragged(Producer(lists(offsets, words))).to_list() == [["to"], ["bee"]]
    short = np.frombuffer(b"be\0\0" + bytes(8), np.int32)
    words = views((2, *short), (32, 0, 0, 0))
    assert vl.Ragged(Producer(lists(offsets, words))).to_list() == [
        ["be"],
        ["a word of more than twelve bytes"],
    ]
    assert vl.Ragged(Producer(lists(offsets, texts(form=b"z")))).to_list() == [[b"to"], [b"bee"]]


def test_dictionaries_are_read():
    for words, want in ((texts(), [["bee", "to"]]), (numbers(2), [[1, 0]]), (lists(), [[[2, 3, 4], [0, 1]]])):
        ids = {"format": b"c", "length": 2, "buffers": [None, np.array([1, 0], np.int8)], "dictionary": words}
        assert vl.Ragged(Producer(lists([0, 2], ids))).to_list() == want


def ids(numbers, words, form=b"c", dtype=np.int8, **more):
    raw = np.array(numbers, dtype)
    return {"format": form, "length": len(raw), "buffers": [None, raw], "dictionary": words, **more}


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (lists((0, 3, 2)), "row 1 ends at 2, before"),
        (lists((0, 3, 6)), "row 1 ends at 6, past"),
        (lists((-1, 3)), "row 0 ends at -1, before"),
        (lists(lies={"length": -1}), "it has length -1 and offset 0"),
        (lists(lies={"offset": -2}), "it has length 2 and offset -2"),
        (lists(lies={"length": 2**62, "offset": 2**62}), "it has length"),
        (lists(lies={"length": 2**61}), "a size does not fit|past the last"),
        (lists(lies={"null_count": 3}), "3 of 2 values are null"),
        (lists(lies={"null_count": -2}), "-2 of 2 values are null"),
        (lists(lies={"null_count": 1}), "it has nulls, but says not where"),
        (lists(lies={"n_buffers": 1}), "expected 2 buffers, got 1"),
        (lists(lies={"n_buffers": -1}), "expected 2 buffers, got -1"),
        (lists(lies={"buffers": None}), "its buffers are missing"),
        (lists(lies={"n_children": 0}), "has 1 children"),
        (lists(lies={"n_children": 2}), "has 1 children"),
        (lists(lies={"n_children": -1}), "children"),
        (lists(lies={"children": None}), "children of its schema are missing"),
        (lists(lies={"child": 1}), "a child is missing"),
        (
            {"format": b"+s", "length": 5, "buffers": [None], "children": [numbers()], "lies": {"child": 1}},
            "a child is missing",
        ),
        (list_views([0, 2], [2, -1]), "size -1|row 1"),
        (list_views([0, -2], [2, 1]), "row 1"),
        (list_views([0, 3], [2, 9]), "row 1"),
        (list_views([0, 3], [2, 2], lies={"n_buffers": 2}), "expected 3 buffers, got 2"),
        (list_views([0, 3], None), "sizes of 8 bytes are missing"),
        (lists((0, 2), ids([0, 1], lists((0, 3, 2)))), "row 1 ends at 2, before"),
        (lists((0, 2), ids([0, 1], lists(lies={"length": -1}))), "it has length -1"),
        ({"format": b"+r", "length": 5, "buffers": [], "children": [numbers(), numbers()]}, "needs pyarrow"),
        (lists(child=numbers(lies={"release": 0})), "a part of its schema is empty"),
        (lists(child=numbers(lies={"format": None})), "its schema has no format"),
        (
            lists(child={"format": b"i", "length": 5, "buffers": [None, None]}),
            "values of 20 bytes are missing",
        ),
        (lists((0, 3), numbers(), buffers=[None, None], length=1), "offsets of 8 bytes are missing"),
        (numbers(format=b"+w:"), "has no size"),
        (numbers(format=b"+w:\xff"), "the format '\\+w:\ufffd' has no size"),
        (numbers(format=b"+w:-1"), "has no size"),
        (numbers(format=b"w:99999999999999999999"), "has no size"),
        (numbers(format=b"d:"), "is of no decimals"),
        (numbers(format=b"d:5"), "is of no decimals"),
        (numbers(format=b"d:5,2,"), "is of no decimals"),
        (numbers(format=b"d:5,2,48"), "is of no decimals"),
        (numbers(format=b"d:5,2,128,1"), "is of no decimals"),
        (numbers(format=b"d:5,9999999999"), "is of no decimals"),
        (lists(child=numbers(format=b"w:9223372036854775807")), "a size does not fit 63 bits"),
        (lists((0, 2), texts((0, 3, 2))), "text that leaves its bytes at row 0"),
        (lists((0, 2), texts((0, -3, 2))), "text that leaves its bytes at row 0"),
        (lists((0, 2), texts((0, 1, -1))), "the last offset of its text is -1"),
        (lists((0, 1, 2), texts((0, 1, 2), b"a\xff")), "bytes that are no UTF-8 at row 1"),
        (lists((0, 1), views((-1, 0, 0, 0))), "text that leaves its bytes at row 0"),
        (lists((0, 1), views((20, 0, 1, 0))), "text that leaves its bytes at row 0"),
        (lists((0, 1), views((20, 0, -1, 0))), "text that leaves its bytes at row 0"),
        (lists((0, 1), views((20, 0, 0, 13))), "text that leaves its bytes at row 0"),
        (lists((0, 1), views((20, 0, 0, -1))), "text that leaves its bytes at row 0"),
        (lists((0, 1), views((20, 0, 0, 0), sizes=[-4])), "a size of its text is -4"),
        (lists((0, 1), views((2, 0, 0, 0), lies={"n_buffers": 2})), "3 buffers at least, got 2"),
        (lists((0, 1), texts((0, 2), b"a\0", b"z")), r"ends in a zero"),
        (lists((0, 2), ids([0, 2], texts())), "id 2 at row 0 leaves the 2 values of its dictionary"),
        (lists((0, 2), ids([-1, 0], texts())), "id -1 at row 0 leaves"),
        (lists((0, 2), ids([0, 2**63], texts(), b"L", np.uint64)), "id 9223372036854775808 at row 0 leaves"),
        (lists((0, 2), ids([0, 5], lists())), "id 5 at row 0 leaves"),
        (
            {"format": b"+s", "length": 9, "buffers": [None], "children": [numbers()]},
            "a child has 5 of 9 values",
        ),
        (
            {"format": b"+w:4", "length": 2, "buffers": [None], "children": [numbers()]},
            "a child has 5 of 8 values",
        ),
        ({"format": b"", "length": 1, "buffers": [None, np.zeros(9)]}, "needs pyarrow"),
        (lists((0, 1), ids([0], texts(), b"g", np.float64)), "needs pyarrow"),
    ],
)
def test_a_lie_is_named(tree, text):
    source = Producer(tree)
    with pytest.raises((TypeError, ValueError), match=text) as caught:
        vl.Ragged.from_arrow(source).to_list()
    del caught
    gc.collect()
    assert source.releases <= 1


def test_streams_are_read_and_let_go_once():
    source = Batches(lists(), lists((0, 1)), lists((0,)))
    r = vl.Ragged(source)
    assert r.to_list() == [[0, 1], [2, 3, 4], [0]]
    with pytest.raises(ValueError, match="is empty: it was read before"):
        vl.Ragged(source)
    del r
    gc.collect()
    assert source.releases == 1
    assert [part.releases for part in source.sources] == [1, 1, 1]
    assert vl.Ragged(Batches(lists((0,)))).to_list() == []


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"schema_code": 5}, "its stream failed: no more"),
        ({"schema_code": 5, "text": None}, "its stream failed: Input/output error"),
        ({"next_code": 22}, "its stream failed: no more"),
        ({"next_code": 22, "fails_at": 1, "text": None}, "its stream failed: Invalid argument"),
        ({"next_code": 22, "fails_at": 2, "without": ["get_last_error"]}, "its stream failed: Invalid"),
        ({"next_code": -7, "fails_at": 2, "text": b"\xff"}, "its stream failed"),
        ({"without": ["get_schema"]}, "its stream has no functions"),
        ({"without": ["get_next"]}, "its stream has no functions"),
        ({"without": ["release"]}, "is empty: it was read before"),
    ],
)
def test_a_stream_that_fails_says_why_and_is_let_go(how, text):
    source = Batches(lists(), lists((0, 1)), **how)
    with pytest.raises(ValueError, match=text) as caught:
        vl.Ragged(source)
    del caught
    gc.collect()
    assert source.releases <= 1
    read = how.get("fails_at", 0) if "next_code" in how else 0
    assert [part.releases for part in source.sources] == [1] * read + [0] * (2 - read)


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (numbers(), "it has 0 children, its schema 1"),
        (lists((0, 3, 2)), "row 1 ends at 2, before"),
        (lists(lies={"length": -1}), "it has length -1"),
        (lists(lies={"child": 1}), "a child is missing"),
    ],
)
def test_a_batch_that_is_not_of_its_schema_is_named(tree, text):
    source = Batches(lists(), tree)
    with pytest.raises(ValueError, match=text) as caught:
        vl.Ragged(source)
    del caught
    gc.collect()
    assert source.releases == 1
    assert [part.releases for part in source.sources] == [1, 1]


def test_a_generator_that_raises_is_an_error():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table({"x": [[1], [2, 3]]})

    def batches():
        yield from table.to_batches()
        raise OSError("the disk is gone")

    for make in (vl.Ragged.from_arrow, vl.JointNestedRaggedTensorDict, vl.data.Dataset):
        reader = pa.RecordBatchReader.from_batches(table.schema, batches())
        with pytest.raises((ValueError, OSError), match="the disk is gone"):
            make(reader)


def runs(ends, values=None, **more):
    """Five values in runs, which pyarrow decodes."""
    ends = np.array(ends, np.int32)
    run_ends = {"format": b"i", "name": b"run_ends", "length": len(ends), "buffers": [None, ends]}
    values = (numbers(len(ends)) if values is None else values) | {"name": b"values"}
    return {"format": b"+r", "length": 5, "children": [run_ends, values], **more}


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (runs([-2, 5]), "the first run end is -2"),
        (runs([0, 5]), "the first run end is 0"),
        (runs([5, 2]), "Last run end is 2 but it should match 5"),
        (runs([2, 3]), "Last run end is 3 but it should match 5"),
        (runs([2, 5], numbers(1)), "Length of run_ends is greater than the length of values"),
        (runs([2, 5], offset=3), "Last run end is 5 but it should match 8"),
        (runs([2, 5], lies={"length": -1}), "length -1|negative"),
        (runs([2, 5], lies={"n_buffers": 3}), "Expected 0 buffers"),
        (runs([2, 5], lies={"n_children": 1}), "Expected 2 children"),
        (runs([2, 5], lies={"child": 2}), "a child is missing"),
        (runs([2, 5], texts((0, 3, 2))), "Offset invariant failure"),
        (runs([2, 5], lists((0, 3, 9))), "Offset invariant failure"),
    ],
)
def test_a_lie_about_runs_is_named(monkeypatch, tree, text):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    monkeypatch.undo()  # pyarrow reads these, and looks at all of it first
    assert vl.Ragged(Producer(lists((0, 2, 5), runs([2, 5])))).to_list() == [[0, 0], [1, 1, 1]]
    source = Producer(lists((0, 2, 5), tree))
    with pytest.raises((TypeError, ValueError), match=text) as caught:
        vl.Ragged(source)
    del caught
    gc.collect()
    assert source.releases <= 1


def test_depth_has_an_end():
    tree = numbers(1)
    for _ in range(100):
        tree = {"format": b"+w:1", "length": 1, "buffers": [None], "children": [tree]}
    with pytest.raises(ValueError, match="it nests deeper than 64"):
        vl.Ragged(Producer(tree))


SMALL = st.integers(-2, 12)
FORMATS = [
    *(b"+l", b"+L", b"+m", b"+vl", b"+vL", b"+w:2", b"+w:0", b"+w:-1", b"+s"),
    *(b"+r", b"+ud:0,1", b"+us:0", b"+u", b""),
]
LEAVES = [
    b"i",
    b"c",
    b"L",
    b"e",
    b"b",
    b"n",
    b"u",
    b"U",
    b"z",
    b"vu",
    b"vz",
    b"w:3",
    b"tdD",
    b"tsu:",
    b"tts",
    b"d:9,2",
]
LIES = {
    "length": st.integers(-2, 40),
    "offset": st.integers(-2, 9),
    "null_count": st.integers(-2, 9),
    "n_buffers": st.integers(-1, 4),
    "n_children": st.integers(-1, 1),
    "children": st.none(),
    "child": st.integers(0, 2),
    "buffers": st.none(),
    "dictionary": st.none(),
    "release": st.just(0),
    "format": st.sampled_from([*FORMATS, *LEAVES, None]),
}


@st.composite
def trees(draw, depth=3):
    """Anything that a producer could say, over buffers with room for what it says."""
    form = draw(st.sampled_from(FORMATS if depth and draw(st.booleans()) else LEAVES))
    width = np.int64 if form in (b"+L", b"+vL", b"U") else np.int32
    small = st.lists(SMALL, min_size=8, max_size=8)
    buffers = [draw(st.sampled_from([None, None, np.full(64, 0x5A, np.uint8)]))]
    for _ in range(draw(st.integers(0, 3))):
        entries = np.array(draw(small), width)
        buffers.append(np.sort(np.abs(entries)) if draw(st.booleans()) else entries)
    if form in (b"vu", b"vz"):
        buffers.append(np.array([20] * 8, np.int64))
    tree = {
        "format": form,
        "length": draw(st.integers(0, 6)),
        "offset": draw(st.integers(0, 1)),
        "buffers": buffers,
    }
    tree["null_count"] = -1 if buffers[0] is not None else 0
    children = (
        draw(st.lists(trees(depth=depth - 1), min_size=1, max_size=2 if form == b"+s" else 1))
        if depth
        else []
    )
    tree["children"] = children if form in FORMATS else []
    if form in (b"i", b"c", b"L") and depth and draw(st.booleans()):
        tree["dictionary"] = draw(trees(depth=draw(st.integers(0, 1))))
    name = draw(st.sampled_from([None, None, *LIES]))
    tree["lies"] = {} if name is None else {name: draw(LIES[name])}
    return tree


@settings(max_examples=300)
@given(trees(), st.sampled_from(["refuse", "nan", "fill"]))
def test_any_table_is_read_or_refused(tree, nulls):
    source = Producer(tree)
    try:
        r = vl.Ragged.from_arrow(source, nulls=nulls, fill=0 if nulls == "fill" else None)
        assert len(r.to_list()) == len(r)
    except (TypeError, ValueError, OverflowError):
        return
    del r
    gc.collect()
    assert source.releases == 1


@settings(max_examples=150)
@given(st.lists(trees(depth=2), min_size=1, max_size=3))
def test_any_stream_is_read_or_refused(batches):
    source = Batches(*batches)
    try:
        r = vl.Ragged.from_arrow(source)
        assert len(r.to_list()) == len(r)
    except (TypeError, ValueError, OverflowError):
        return
    del r
    gc.collect()
    assert source.releases == 1
    assert [part.releases for part in source.sources] == [1] * len(batches)
