"""Operands of einsum as blocks of sequences, and what the oracle makes of them."""

import numpy as np
import varlen as vl
from oracles import verbs as oracle

# One letter counts sequences, t and s are ragged; what each is of.
EQUATIONS = [
    "btd,bsd->bts",  # energies
    "bts,bsd->btd",  # weights times values
    "bthd,bshd->bhts",
    "bhts,bshd->bthd",
    "bhts,bthd->bshd",
    "btk,btm->bkm",
    "btk,btm->km",
    "btd,dk->btk",
    "bt,bt->b",
    "bd,btd->bt",
    "db,btd->bt",
    "btd->bd",
    "btd->bt",
    "btd->d",
    "btd->",
    "bts->bst",
    "bthd->bdth",
    "bhtd->hd",
    "bhtd,dk->bthk",
    "bhtd,bthk->dk",
    "bd,bt->btd",
    "bt,bs->bts",
    "btd,btd->bd",
    "btd,btd->bt",
    "btd,btd->btd",
    "btd,btd->",
    "btsh,bshd->bthd",
    "bthd,bshd->btsh",
    "bhts,bshd->btd",
    "bthd,bhds->bts",
    "bd,bdk->bk",
    "bthd,d->bth",
    "btd,bd->bdt",
    "btk,bsk->b",
    "btd,bs->bd",
    "btd,bsd,bsk->btk",
    "btd,de,bse,bs->bt",
    "bt,b->bt",
    "bt,->bt",
]
EXTENTS = {"h": 2, "d": 3, "k": 4, "m": 5, "e": 1}
LENGTHS = [
    ([3, 1, 0, 5, 5], [2, 4, 1, 0, 0]),
    ([0, 0], [0, 0]),
    ([], []),
    ([70], [40]),
    ([2, 2, 2], [3, 3, 3]),
]


class Sample:
    """Operands of small whole numbers, which all orders of a sum add up to the same, and the result."""

    def __init__(self, equation, lengths, extents=EXTENTS, dtype=np.float64, seed=0, low=-3):
        draw = np.random.default_rng(seed)
        inputs, self.out = equation.split("->")
        self.terms = inputs.split(",")
        self.equation, self.dtype = equation, np.dtype(dtype)
        self.lengths = {letter: lengths[letter] for letter in lengths if letter in inputs}
        self.extents = extents
        self.count = len(lengths["t"])
        self.operands, blocks = [], []
        for term in self.terms:
            shape = [[self.extent(letter, i) for letter in term] for i in range(self.count)]
            if "b" in term:
                own = [draw.integers(low, 4, x).astype(dtype) for x in shape]
                self.operands.append(self.laid(term, own))
            else:
                one = draw.integers(low, 4, [extents[letter] for letter in term]).astype(dtype)
                own = [one] * self.count
                self.operands.append(one)
            blocks.append([x.squeeze(term.index("b")) if "b" in term else x for x in own])
        if self.dtype.itemsize == 2 and self.dtype.kind in "fV":  # NumPy knows no bfloat16
            blocks = [[x.astype(np.float32) for x in own] for own in blocks]
        found = oracle.einsum(equation.replace("b", ""), *blocks)
        if "b" in self.out:
            found = [np.expand_dims(x, self.out.index("b")) for x in found]
            self.result = self.laid(self.out, found)
        else:
            self.result = sum(found, np.zeros([extents[letter] for letter in self.out], dtype))
        self.result = np.asarray(self.result, dtype)

    def extent(self, letter, i):
        return (
            1
            if letter == "b"
            else self.lengths[letter][i]
            if letter in self.lengths
            else self.extents[letter]
        )

    def prefix(self, term):
        return max((k + 1 for k, letter in enumerate(term) if letter in self.lengths), default=0)

    def laid(self, term, blocks):
        """Blocks of sequences as one array."""
        prefix = self.prefix(term)
        rest = [self.extents[letter] for letter in term[prefix:] if letter != "b"]
        if prefix:
            rows = [x.reshape(int(np.prod(x.shape[:prefix])), *rest) for x in blocks]
            return np.concatenate([*rows, np.zeros((0, *rest), self.dtype)]).astype(self.dtype)
        shape = [0 if letter == "b" else self.extents[letter] for letter in term]
        return np.concatenate([*blocks, np.zeros(shape, self.dtype)], term.index("b")).astype(self.dtype)

    def ragged(self, term, values):
        """An operand as a Ragged with a level for each letter behind b."""
        prefix, levels, units = self.prefix(term), [], np.arange(self.count)
        for letter in term[1:prefix]:
            each = self.lengths.get(letter, [self.extents.get(letter, 0)] * self.count)
            own = np.asarray(each, np.int64)[units]
            levels.append(own)
            units = np.repeat(units, own)
        return vl.Ragged(values, levels)

    def raggeds(self):
        return [
            self.ragged(term, x) if self.prefix(term) else x
            for term, x in zip(self.terms, self.operands, strict=True)
        ]


def samples(lengths=LENGTHS, equations=EQUATIONS, **kwargs):
    for t, s in lengths:
        for equation in equations:
            yield Sample(equation, {"t": t, "s": s}, **kwargs)
