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
                if hasattr(table, name):
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
        (lists(child=numbers(lies={"release": 0})), "a part of its schema is empty"),
        (lists(child=numbers(lies={"format": None})), "its schema has no format"),
        (
            lists(child={"format": b"i", "length": 5, "buffers": [None, None]}),
            "values of 20 bytes are missing",
        ),
        (lists((0, 3), numbers(), buffers=[None, None], length=1), "offsets of 8 bytes are missing"),
        (numbers(format=b"+w:"), "has no size"),
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


def test_depth_has_an_end():
    tree = numbers(1)
    for _ in range(100):
        tree = {"format": b"+w:1", "length": 1, "buffers": [None], "children": [tree]}
    with pytest.raises(ValueError, match="it nests deeper than 64"):
        vl.Ragged(Producer(tree))


SMALL = st.integers(-2, 12)
FORMATS = [b"+l", b"+L", b"+m", b"+vl", b"+vL", b"+w:2", b"+w:0", b"+w:-1", b"+s", b"+u", b""]
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
        tree["dictionary"] = draw(trees(depth=0))
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
