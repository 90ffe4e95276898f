// What help() says of Dim.
#pragma once

namespace varlen::bindings::docs {

constexpr const char* kDim =
    R"(Dim(size=None, dimension=None, *, lengths=None, name=None, kind=None, over=None, vocab=None)
--

The name of an axis, with an exact algebra, and lengths where it has some.

A dim stands for a word of positions, each with a label of its own. `p + q` lays the positions of q behind those
of p, `p * q` puts all of q in the place of each position of p, `-p` takes off. Two dims are equal where their
labels are the same whatever the lengths are, however they were built: `(p + q) * r == p * r + q * r`, and not
`r * (p + q) == r * p + r * q`. An int is so many positions without a name. Neither names nor sizes make dims equal:
two of one name, or of one size, are two dims, but all dims of the batch are one.

Lengths are no part of what a dim is: `bind` gives an equal one with others. Those of a derived dim are worked out
once, in the reduced form, and cut off at 0 once, at the end; sizes below 0 are 0 as well. A quotient is a dim of its
own, whose operands are cut off at 0, too.

The hash says whether a dim is the batch, and the size of a static one. It never changes, whatever is declared the
same as something later, so that keys of dicts are found again.

Parameters
----------
size
    An int, the size of a static dim; or lengths; or the name.
dimension
    The size or the lengths, behind a name.
lengths
    How many positions each row has: (n,) integers over the batch, an array with an axis for each dim of `over`,
    an int where it is one number, a tensor, or a Level, which is shared. A Data of integers is over its own dims,
    a Ragged of them over those of `over`.
name
    What it is called. Nothing depends on it.
kind
    'batch', 'spatial', 'feature' or 'unspecified', the default.
over
    The dims that the lengths are over, a Dim or a sequence; the batch for lengths of one axis. Those without
    lengths get them from the shape. Lengths over a dim that itself is ragged come one after the other.
vocab
    A Vocabulary or its labels. They say the size, if nothing else does.

Raises
------
TypeError
    Something else than integers or dims; lengths for a dim of one size; `over` beside a Data, or a Ragged without.
ValueError
    A negative size or length, an unknown kind, another number of labels than the size.
LengthMismatchError
    Another number of lengths than `over` has positions.

Examples
--------
>>> time = varlen.Dim("time", lengths=[3, 0, 2])
>>> time
Dim('time', 3 lengths 0 to 3 over batch)
>>> 2 * time + 1
Dim('2*time+1', 3 lengths 1 to 7 over batch)
>>> (2 * time + 1).lengths
array([7, 1, 5])
>>> (time + 2) - 2 == time, 2 * time == time + time, 2 * time == time * 2
(True, True, False)
>>> varlen.Dim(512, name="model", kind="feature").size
512
)";

constexpr const char* kBind = R"(bind($self, lengths, over=None)
--

An equal dim with these lengths: one name serves every batch.

Parameters
----------
lengths
    What `Dim` takes.
over
    The dims that the lengths are over; the batch for lengths of one axis.

Returns
-------
Dim
    Equal to this one, with its name.

Raises
------
ValueError
    A static or a derived dim: those that it is made of are bound.
LengthMismatchError
    Another number of lengths than `over` has positions.

Examples
--------
>>> time = varlen.Dim("time")
>>> bound = time.bind([3, 0, 2])
>>> bound == time, bound.max_size()
(True, 3)
>>> (bound + 1).lengths
array([4, 1, 3])
)";

constexpr const char* kDeclareSameAs = R"(declare_same_as($self, other, /)
--

Make two dims equal, and with them all that is built on them, or was.

One name gets what it stands for; a name without lengths gets those of the other side. This holds for the whole
process, for as long as the name is in use. All expressions that are alive are looked at, so it is for where a model
is built, and not for its inner loops.

Parameters
----------
other
    The Dim that this one is the same as.

Raises
------
LengthMismatchError
    Sizes or lengths that differ; the text names the row.
ValueError
    No name can stand for the rest, as in `time` and `2 * time`, where it would stand for itself; a divisor
    somewhere would become 0; or a key of a dict would get another hash, as where a dim that was one without a size
    gets one. Nothing is changed then.

Examples
--------
>>> time, frames = varlen.Dim("time", lengths=[4, 2]), varlen.Dim("frames")
>>> before = frames + 1
>>> frames.declare_same_as(2 * time)
>>> before == 2 * time + 1, frames.lengths
(True, array([8, 4]))
)";

constexpr const char* kMatches = R"(matches($self, other, *, broadcast=False, derived=False, same_size=False)
--

Whether two dims are equal, or fit in a looser way that is asked for.

Parameters
----------
other
    A Dim.
broadcast
    Whether a static dim of size 1 fits any.
derived
    Whether dims that are derived from the same one fit.
same_size
    Whether static dims of one size fit.

Returns
-------
bool
    Whether they fit.

Examples
--------
>>> time = varlen.Dim("time")
>>> time.matches(time + 1), time.matches(time + 1, derived=True)
(False, True)
)";

constexpr const char* kCopy = R"(copy($self, *, name=None, same_as_self=True, match_priority=None)
--

The same dim under another name or with another priority, or a new one like it.

Parameters
----------
name
    What it is called; the name of this one, if left out.
same_as_self
    False for a dim of its own, with the size or the lengths of this one.
match_priority
    Which of two equal dims of one array is meant: the one of this priority, else the one of the greater.

Returns
-------
Dim
    Equal to this one where `same_as_self`.

Raises
------
ValueError
    A dim of the batch of its own.

Examples
--------
>>> model = varlen.Dim(4, name="model")
>>> model.copy(match_priority=1) == model, model.copy(same_as_self=False) == model
(True, False)
)";

constexpr const char* kMaxSize = R"(max_size($self, /)
--

The size of a static dim, else the longest length: how far a padded axis goes.

Returns
-------
int
    0 where there are no lengths at all.

Raises
------
ValueError
    A dim without lengths; the text names what has to be bound.

Examples
--------
>>> (varlen.Dim("time", lengths=[3, 0, 2]) + 1).max_size()
4
)";

constexpr const char* kMask = R"(mask($self, dims=None)
--

Where a rectangle of the dim, and of those that it is over, has positions.

Parameters
----------
dims
    The order of these dims, and others over which the mask is repeated.

Returns
-------
Data
    Bools in padded storage.

Raises
------
ValueError
    A dim without lengths, or dims without one that it is over.

Examples
--------
>>> varlen.Dim("time", lengths=[2, 1]).mask().values
array([[ True,  True],
       [ True, False]])
)";

constexpr const char* kOffsets = R"(offsets($self, over=None)
--

Where the positions of each row begin and end, laid end to end.

Parameters
----------
over
    Dims whose positions are the rows; those that the dim is over must be among them. If nothing is said, these alone.

Returns
-------
ndarray
    int64 (n + 1,), read-only.

Raises
------
ValueError
    A dim without lengths; the text names what has to be bound.

Examples
--------
>>> time = varlen.Dim("time", lengths=[3, 0, 2])
>>> time.offsets()
array([0, 3, 3, 5])
>>> time.offsets([time.over[0], varlen.Dim("two", 2)])
array([ 0,  3,  6,  6,  6,  8, 10])
)";

constexpr const char* kSubLeft = R"(sub_left($self, other, /)
--

Without so many positions at the left end.

Parameters
----------
other
    A Dim, or an int: so many positions.

Returns
-------
Dim
    `-other + self`.

Examples
--------
>>> p, q = varlen.Dim("p"), varlen.Dim("q")
>>> (q + p).sub_left(q) == p
True
)";

constexpr const char* kSubRight = R"(sub_right($self, other, /)
--

Without so many positions at the right end, as `self - other` is.

Parameters
----------
other
    A Dim, or an int: so many positions.

Returns
-------
Dim
    `self - other`.

Examples
--------
>>> p, q = varlen.Dim("p"), varlen.Dim("q")
>>> (p + q).sub_right(q) == p
True
)";

constexpr const char* kDivLeft = R"(div_left($self, other, /)
--

Without a factor at the left; what is left over is dropped.

Parameters
----------
other
    A Dim, or an int: so many positions.

Returns
-------
Dim
    What `other` in front of it makes this one, or a dim of its own.

Raises
------
ValueError
    A divisor without positions; when lengths are asked for, one without any in some row, which is named.

Examples
--------
>>> p, q = varlen.Dim("p"), varlen.Dim("q")
>>> (q * p).div_left(q) == p
True
)";

constexpr const char* kDivRight = R"(div_right($self, other, /)
--

Without a factor at the right, as `self // other` and `self / other` are; what is left over is dropped.

Parameters
----------
other
    A Dim, or an int: so many positions.

Returns
-------
Dim
    What makes this one with `other` behind it, or a dim of its own.

Raises
------
ValueError
    A divisor without positions; when lengths are asked for, one without any in some row, which is named.

Examples
--------
>>> p, q = varlen.Dim("p", lengths=[5, 4]), varlen.Dim("q")
>>> (p * q).div_right(q) == p
True
>>> (p // 2).lengths
array([2, 2])
)";

constexpr const char* kCeildivLeft = R"(ceildiv_left($self, other, /)
--

Without a factor at the left; what is left over is one position more.

Parameters
----------
other
    A Dim, or an int: so many positions.

Returns
-------
Dim
    What `other` in front of it makes this one, or a dim of its own.

Raises
------
ValueError
    A divisor without positions; when lengths are asked for, one without any in some row, which is named.

Examples
--------
>>> varlen.Dim("p", lengths=[5, 4]).ceildiv_left(2).lengths
array([3, 2])
)";

constexpr const char* kCeildivRight = R"(ceildiv_right($self, other, /)
--

Without a factor at the right; what is left over is one position more, as strided layers have it.

Parameters
----------
other
    A Dim, or an int: so many positions.

Returns
-------
Dim
    What makes this one with `other` behind it, or a dim of its own.

Raises
------
ValueError
    A divisor without positions; when lengths are asked for, one without any in some row, which is named.

Examples
--------
>>> p = varlen.Dim("p", lengths=[5, 4])
>>> p.ceildiv_right(2).lengths
array([3, 2])
>>> p.ceildiv_right(2).ceildiv_right(3) == p.ceildiv_right(6)
True
)";

}  // namespace varlen::bindings::docs
