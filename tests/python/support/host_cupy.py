"""A stand-in for CuPy: its arrays are memory of the host, on which the kernels run thread by thread.

It is as strict as CuPy: an array of NumPy is no operand, nothing becomes an array of NumPy but by `get`, and
there are only the functions named here, all of which CuPy has. `pytest -p host_cupy`, or `install()`.
"""

from __future__ import annotations

import contextlib
import sys
import types
from typing import ClassVar

import numpy as np
from varlen import _cuda_host

FUNCTIONS = (
    "abs absolute add all allclose any arange argmax argmin argsort array_equal ascontiguousarray asarray "
    "bitwise_and bitwise_or bitwise_xor broadcast_to ceil clip concatenate copysign cos cumsum divide "
    "divmod einsum equal exp expm1 fabs flatnonzero float_power floor floor_divide fmod frexp full greater "
    "greater_equal invert isfinite isinf isnan left_shift less less_equal log log1p log2 log10 logaddexp "
    "logical_and logical_not logical_or logical_xor matmul max maximum mean min minimum modf multiply "
    "negative nonzero not_equal ones positive power prod reciprocal remainder repeat reshape rint "
    "right_shift round sign sin sqrt square stack subtract sum tan tanh tile true_divide trunc unique where "
    "zeros zeros_like ones_like full_like empty_like nan_to_num real imag isclose array empty vstack "
    "squeeze split transpose dot"
)
METHODS = (
    "all any argmax argmin argsort astype clip conj cumprod cumsum dot fill flatten max mean min nonzero "
    "prod ravel repeat reshape round squeeze std sum swapaxes take transpose var view"
)
OPERATORS = (
    "abs add and divmod eq floordiv ge gt invert le lshift lt matmul mod mul ne neg or pos pow radd rand "
    "rdivmod rfloordiv rlshift rmatmul rmod rmul ror rpow rrshift rshift rsub rtruediv rxor sub truediv xor"
)
IN_PLACE = "iadd iand ifloordiv ilshift imod imul ior ipow irshift isub itruediv ixor"
NAMES = frozenset(FUNCTIONS.split())
STREAMS = types.SimpleNamespace(of={})


def _taken(x, inside=False):
    """What a function is called with: the memory of arrays, and nothing of NumPy's own."""
    if isinstance(x, ndarray):
        if x.device.id != Device().id:
            raise ValueError(f"Array device must be same as the current device: {x.device.id}, {Device().id}")
        return x._memory
    if isinstance(x, np.ndarray):
        raise TypeError(f"Unsupported type {type(x)}")
    if isinstance(x, (list, tuple)):
        return type(x)(_taken(each, True) for each in x)
    return x


def _given(x):
    if isinstance(x, (np.ndarray, np.generic)):
        return ndarray._over(np.asarray(x))
    return type(x)(_given(each) for each in x) if isinstance(x, (list, tuple)) else x


def _function(function):
    def call(*args, **kwargs):
        for arg in args:  # as CuPy does it, out is not asked
            if hasattr(arg, "__cupy_override_elementwise_kernel__"):
                return arg.__cupy_override_elementwise_kernel__(call, *args, **kwargs)
        out = kwargs.get("out")
        with np.errstate(all="ignore"):
            result = function(*map(_taken, args), **{key: _taken(x) for key, x in kwargs.items()})
        return _given(result) if out is None else out

    call.__name__, call.name = function.__name__, f"cupy_{function.__name__}"
    return call


class _Flags:
    def __init__(self, flags):
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous

    def __getitem__(self, name):
        return {"C_CONTIGUOUS": self.c_contiguous, "F_CONTIGUOUS": self.f_contiguous}[name]


class ndarray:
    """Memory of the host that is said to lie on a device."""

    __array_priority__ = 100

    def __init__(self, shape, dtype=float, memptr=None, strides=None):
        self._memory, self._number = np.empty(shape, dtype), Device().id
        if memptr is not None:
            shown = {"shape": shape, "typestr": np.dtype(dtype).str, "strides": strides, "version": 3}
            shown["data"] = (memptr.mem.ptr, False)
            self._memory = np.asarray(
                types.SimpleNamespace(__array_interface__=shown, owner=memptr.mem.owner)
            )

    @classmethod
    def _over(cls, memory, number=None):
        self = cls.__new__(cls)
        self._memory, self._number = memory, Device().id if number is None else number
        return self

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Use `.get()` explicitly.")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or ufunc.__name__ not in NAMES or any(map(_overrides, inputs)):
            return NotImplemented
        out = kwargs.pop("out", None)
        return getattr(sys.modules["cupy"], ufunc.__name__)(
            *inputs, **({"out": out[0]} if out else {}), **kwargs
        )

    def __array_function__(self, function, kinds, args, kwargs):
        if function.__name__ not in NAMES:
            return NotImplemented
        return getattr(sys.modules["cupy"], function.__name__)(*args, **kwargs)

    @property
    def __cuda_array_interface__(self):
        shown = self._memory.__array_interface__
        stream = STREAMS.of.get(self._number, 0)
        return {**shown, "version": 3, "stream": stream or 1}

    def __dlpack__(self, **kwargs):
        return self._memory.__dlpack__()

    def __dlpack_device__(self):
        return (2, self._number)

    @property
    def device(self):
        return Device(self._number)

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self._memory.ctypes.data)

    @property
    def flags(self):
        return _Flags(self._memory.flags)

    @property
    def T(self):
        return self._over(self._memory.T, self._number)

    @property
    def real(self):
        return self._over(self._memory.real, self._number)

    @property
    def imag(self):
        return self._over(self._memory.imag, self._number)

    @property
    def shape(self):
        return self._memory.shape

    @property
    def dtype(self):
        return self._memory.dtype

    @property
    def ndim(self):
        return self._memory.ndim

    @property
    def size(self):
        return self._memory.size

    @property
    def strides(self):
        return self._memory.strides

    @property
    def itemsize(self):
        return self._memory.itemsize

    @property
    def nbytes(self):
        return self._memory.nbytes

    def get(self, stream=None, order="C", out=None, blocking=True):
        return self._memory.copy()

    def item(self, *args):
        return self._memory.item(*args)

    def tolist(self):
        return self._memory.tolist()

    def __getitem__(self, key):
        return self._over(np.asarray(self._memory[_taken(key)]), self._number)

    def __setitem__(self, key, value):
        self._memory[_taken(key)] = _taken(value)

    def __len__(self):
        return len(self._memory)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self._memory)

    def __int__(self):
        return int(self._memory)

    def __float__(self):
        return float(self._memory)

    def __repr__(self):
        return repr(self._memory)

    def __reduce__(self):
        return _unpickled, (self._memory,)


def _unpickled(memory):
    return ndarray._over(memory)


def _method(name):
    def call(self, *args, **kwargs):
        given = [_taken(x) for x in args]
        _taken(self)
        with np.errstate(all="ignore"):
            result = getattr(self._memory, name)(*given, **{key: _taken(x) for key, x in kwargs.items()})
        return _given(result)

    return call


def _copied(self, order="C"):
    """A copy on the current device, wherever the array lies."""
    return ndarray._over(self._memory.copy())


UFUNCS = {"mul": "multiply", "sub": "subtract", "truediv": "true_divide", "lt": "less", "and": "bitwise_and"}


def _overrides(x):
    return not isinstance(x, (ndarray, np.ndarray, np.generic)) and hasattr(x, "__array_ufunc__")


def _operator(name):
    method = f"__{name}__"

    def call(self, *args):
        if any(map(_overrides, args)):  # the ufunc is called, and asks whether it is overridden
            return getattr(sys.modules["cupy"], UFUNCS.get(name, name))(self, *args)
        with np.errstate(all="ignore"):
            result = getattr(np.ndarray, method)(_taken(self), *map(_taken, args))
        return result if result is NotImplemented else _given(result)

    return call


def _in_place(name):
    method = f"__{name}__"

    def call(self, other):
        with np.errstate(all="ignore"):
            getattr(np.ndarray, method)(_taken(self), _taken(other))
        return self

    return call


for _name in METHODS.split():
    setattr(ndarray, _name, _method(_name))
for _name in OPERATORS.split():
    setattr(ndarray, f"__{_name}__", _operator(_name))
for _name in IN_PLACE.split():
    setattr(ndarray, f"__{_name}__", _in_place(_name))
ndarray.copy, ndarray.__hash__ = _copied, None


class Device:
    """One of two devices."""

    current: ClassVar = [0]

    def __init__(self, number=None):
        self.id = Device.current[-1] if number is None else int(number)
        if self.id not in (0, 1):
            raise ValueError("cudaErrorInvalidDevice: invalid device ordinal")

    def __enter__(self):
        Device.current.append(self.id)
        return self

    def __exit__(self, *error):
        Device.current.pop()

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    __hash__ = None

    def use(self):
        Device.current[-1] = self.id


class ExternalStream:
    """A stream, and what was asked of it."""

    asked: ClassVar = []

    def __init__(self, ptr, device_id=-1):
        self.ptr, self._before = ptr, []

    def _note(self, *what):
        Stream.asked.append(what)
        kind, this, *other = what
        _cuda_host.note(f"record {this}" if kind == "record" else f"{this} waits for {other[0]}")

    def record(self, event=None):
        self._note("record", self.ptr)
        return self.ptr

    def wait_event(self, event):
        self._note("wait", self.ptr, event)

    def __enter__(self):
        number = Device().id
        self._before.append((number, STREAMS.of.get(number, 0)))
        STREAMS.of[number] = self.ptr
        return self

    def __exit__(self, *error):
        number, STREAMS.of[number] = self._before.pop()


class Stream(ExternalStream):
    """One that is made."""

    made: ClassVar = [100]

    def __init__(self, null=False, non_blocking=False, ptds=False):
        Stream.made[0] += 1
        super().__init__(0 if null else Stream.made[0])


Stream.null = Stream(null=True)


class UnownedMemory:
    def __init__(self, ptr, size, owner, device_id=-1):
        self.ptr, self.size, self.owner = ptr, size, owner


class MemoryPointer:
    def __init__(self, mem, offset):
        self.mem, self.offset = mem, offset


def get_current_stream(device_id=-1):
    return ExternalStream(STREAMS.of.get(Device().id if device_id == -1 else device_id, 0))


@contextlib.contextmanager
def stream_of(device, ptr):
    """The current stream of a device is another one."""
    STREAMS.of[device] = ptr
    try:
        yield
    finally:
        del STREAMS.of[device]


def asarray(x, dtype=None, **kwargs):
    if isinstance(x, ndarray):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    return ndarray._over(np.array(x, dtype))


def array(x, dtype=None, copy=True, **kwargs):
    return ndarray._over(np.array(x._memory if isinstance(x, ndarray) else x, dtype))


def asnumpy(x, stream=None, order="C", out=None, *, blocking=True):
    return x.get() if isinstance(x, ndarray) else np.asarray(x)


def ascontiguousarray(x, dtype=None):
    return ndarray._over(np.ascontiguousarray(_taken(x), dtype), x._number)


def may_share_memory(a, b, max_work=None):
    return np.may_share_memory(_taken(a), _taken(b))


def sliding_window_view(x, window_shape, axis=None):
    return _given(np.lib.stride_tricks.sliding_window_view(_taken(x), window_shape, axis))


class _NoKernel:
    """Source that is compiled for a device: none is here."""

    def __init__(self, *args, **kwargs):
        pass


def _module():
    cupy = types.ModuleType("cupy")
    for name in FUNCTIONS.split():
        setattr(cupy, name, _function(getattr(np, name)))
    cupy.ndarray, cupy.__version__ = ndarray, "14.2.0"
    for each in (asarray, array, asnumpy, ascontiguousarray, may_share_memory):
        setattr(cupy, each.__name__, each)
    cupy.lib = types.SimpleNamespace(
        stride_tricks=types.SimpleNamespace(sliding_window_view=sliding_window_view)
    )
    for name in (
        "float16",
        "float32",
        "float64",
        "int8",
        "int32",
        "int64",
        "uint8",
        "uint32",
        "uint64",
        "bool_",
    ):
        setattr(cupy, name, getattr(np, name))
    cupy.cuda = types.ModuleType("cupy.cuda")
    cupy.cuda.ExternalStream, cupy.cuda.UnownedMemory, cupy.cuda.MemoryPointer = (
        ExternalStream,
        UnownedMemory,
        MemoryPointer,
    )
    cupy.cuda.Device, cupy.cuda.Stream, cupy.cuda.get_current_stream = Device, Stream, get_current_stream
    cupy.cuda.device = types.ModuleType("cupy.cuda.device")
    cupy.cuda.device.Device, cupy.cuda.__path__, cupy.__path__ = Device, [], []
    cupy.cuda.runtime = types.SimpleNamespace(getDeviceCount=lambda: 2, CUDARuntimeError=RuntimeError)
    cupy.cublas = types.ModuleType("cupy.cublas")
    for name in ("RawModule", "RawKernel", "ElementwiseKernel", "ReductionKernel"):
        setattr(cupy, name, _NoKernel)
    cupy.from_dlpack = asarray
    cupy.get_array_module = lambda *xs: cupy if any(isinstance(x, ndarray) for x in xs) else np
    return cupy


def install():
    """`import cupy` gives the stand-in, and the core the kernels that run on the host."""
    if "cupy" not in sys.modules:
        sys.modules["cupy"] = STAND_IN
        made = sys.modules["cupy"]
        parts = (made, made.cuda, made.cuda.device, made.cublas, types.ModuleType("cupyx"))
        sys.modules |= dict(zip(MODULES, parts, strict=True))
    from varlen import _core

    _core.register(kernels=_cuda_host.kernels)
    return sys.modules["cupy"]


MODULES = ("cupy", "cupy.cuda", "cupy.cuda.device", "cupy.cublas", "cupyx")
STAND_IN = _module()
cupy = install()
