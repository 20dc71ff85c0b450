"""Tensor and Parameter: mutable handles on immutable device arrays (or, while capturing, on IR values).

The operators and most methods are attached by the declarations in `weft.ops`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from weft import dtypes
from weft._jax_compat import Array
from weft.core import formatting
from weft.core.elements import array_of
from weft.core.symbol import Symbol
from weft.core.tape import SYMBOL, WRITES, SymbolMark, TapeNode
from weft.core.transparency import keeps
from weft.dtypes import DType
from weft.errors import NoTensor, Refusal, Unsupported
from weft.ir.graph import Value
from weft.ir.types import TensorType

_new = object.__new__


class NoElements:
    """What a tensor has that only describes others, with sizes left open.

    Args:
        kind: its type, in which -1 is a size that is left open.
    """

    __slots__ = ("kind",)

    def __init__(self, kind: TensorType) -> None:
        self.kind = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ValueError(
            f"Tensor(shape={[None if size < 0 else size for size in self.kind.shape]}) says which tensors a network "
            "takes (set_inputs, export, input_signature); it has no elements"
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.elements


class Tensor:
    """An n-dimensional array of one element type.

    Args:
        input_data: a number, a (nested) list or tuple, a NumPy array, another Tensor or a JAX array. Python
            floats become float32, Python ints int64, NumPy arrays keep their type.
        dtype: element type; None takes it from the data.
        shape: with `init`, the shape to initialise. With sizes that are None and no `init` the tensor has no elements:
            it describes those that a network takes, for `Cell.set_inputs`, `export` and ``input_signature``.
        init: an initializer that fills a tensor of `shape` and `dtype`.

    Raises:
        TypeError: the data is not numeric.
        ValueError: nested lists of unequal lengths, or a known `shape` without `init`.

    Example:
        >>> import weft
        >>> weft.Tensor([[1, 2], [3, 4]], weft.float32).shape
        (2, 2)
    """

    __slots__ = ("_data", "_node", "_index", "_type", "_member", "__weakref__")
    __array_priority__: ClassVar[int] = 1000

    #: an Array or Value; not set while the tensor shares memory with a NumPy array, see `weft.core.lending`: `data_of`
    _data: Any
    _node: TapeNode | SymbolMark | None
    _index: int
    _type: TensorType | None
    #: how it shares elements with others, see `weft.core.sharing`; None if it shares none
    _member: Any

    def __init__(
        self, input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None, const_arg: bool = False
    ) -> None:
        del const_arg  # accepted for programs that mark constants; capture finds them by itself
        wanted = None if dtype is None else dtypes.of(dtype)
        if init is not None:
            if shape is None:
                raise ValueError("Tensor(init=...) also needs shape=...")
            input_data = init.materialize(tuple(np.atleast_1d(shape).tolist()), wanted or dtypes.float32)
        elif shape is not None and input_data is None:
            self._describe(shape, wanted)
            return
        elif shape is not None:
            raise ValueError("Tensor(shape=...) also needs init=...")
        elif input_data is None:
            raise NoTensor("Tensor() needs data: Tensor([1.0, 2.0]) or Tensor(shape=(2,), dtype=..., init=...)")
        self._node = None
        self._type = None
        self._member = None
        if isinstance(input_data, Tensor):
            same = wanted is None or wanted is input_data.dtype
            source = present(input_data) if same else input_data.astype(wanted)
            self._data = data_of(source)
            self._node = source._node
            if source._node is not None and source._node is not SYMBOL:
                self._index = source._index
            self._type = source._type
            return
        self._data = array_of(input_data, wanted)
        created = _on_create
        if created is not None:
            created(self)

    def _describe(self, shape: Any, dtype: DType | None) -> None:
        """Have no elements: say which tensors a network takes."""
        given = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        sizes = tuple([None if isinstance(size, Symbol) else size for size in given])
        if None not in sizes and -1 not in sizes:
            raise ValueError("Tensor(shape=...) also needs init=..., or a size that is left open (None)")
        if dtype is None:
            raise ValueError("Tensor(shape=[None, ...]) also needs dtype=...")
        for size in sizes:
            if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < -1):
                raise ValueError(
                    f"Tensor(shape={shape}): a size is an int of at least 0, or None where it is left open"
                )
        self._type = TensorType.of(dtype, tuple([-1 if size is None else size for size in sizes]))
        self._data = NoElements(self._type)
        self._node = None
        self._member = None

    # -- plain facts ---------------------------------------------------------------------------------

    @property
    def type(self) -> TensorType:
        """Element type and shape as one object."""
        try:
            data: Any = self._data
        except AttributeError:  # what a NumPy array holds keeps its type
            data = None if (known := self._member) is None else known.held
        found: Any
        if data.__class__ is Value:
            found = data.type
            return found
        if _open_type is not None and (found := _open_type(data)) is not None:
            return found
        found = self._type
        if found is None:
            found = self._type = TensorType.of(dtypes.of_np(data.dtype), data.shape)
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions."""
        kind = self.type
        return _sizes(kind.shape) if kind.is_open else kind.shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.type.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        kind = self.type
        return _sizes((kind.size,))[0] if kind.is_open else kind.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.type.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.itemsize * self.size

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes to step in each dimension, of a contiguous array of this shape."""
        steps, step = [], self.itemsize
        for dim in reversed(self.shape):
            steps.append(step)
            step *= dim
        return tuple(reversed(steps))

    @property
    def is_symbolic(self) -> bool:
        """Whether the value is known only when the graph under capture runs."""
        try:
            return self._data.__class__ is Value
        except AttributeError:  # it shares memory with a NumPy array
            return False

    # -- to and from the outside ---------------------------------------------------------------------

    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
        """A tensor that shares its memory with a NumPy array: what is written to one is seen by the other.

        An array whose elements do not lie one after the other, one that cannot be written and one in another byte
        order are copied, as any array is where tensors live on an accelerator. `Tensor(array)` always copies.
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"from_numpy needs a numpy.ndarray, not {type(array).__name__}")
        return _borrow(array)

    def concrete(self, use: str) -> Array:
        """The device array; a symbolic tensor refuses, naming the use that needs a value."""
        data = settled(self)
        if data.__class__ is Value or (_is_runtime is not None and _is_runtime(self)):
            raise Unsupported(
                Refusal.TENSOR_VALUE,
                f"{use} needs the value of a tensor that only the running graph knows",
                "move this out of the compiled function, or compute with tensor operations",
            )
        return whole_array(data)

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """The elements as a NumPy array that shares its memory with this tensor: what is written to one is seen by the
        other, see docs/views.md. The array of a view, of a tensor on an accelerator, and one that is made inside a
        compiled function are copies.
        """
        return _lend(self)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Same as `asnumpy`."""
        return self.asnumpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is not True and (dtype is None or np.dtype(dtype) == self.dtype.np_dtype):
            return _lend(self)
        if copy is False:
            raise ValueError(f"a {self.dtype} tensor becomes an array of {np.dtype(dtype)} only by a copy")
        return np.array(self.concrete("conversion to a NumPy array"), dtype=dtype)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.concrete("DLPack export").__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        array: Any = self.concrete("DLPack export")
        return array.__dlpack_device__()

    def item(self, *index: int) -> Any:
        """The only element, or the one at an index, as a Python number."""
        if not index and self.size != 1:  # known before the elements are
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return np.asarray(self.concrete("item()")).item(*index)

    def tolist(self) -> Any:
        """The elements as nested Python lists."""
        return np.asarray(self.concrete("tolist()")).tolist()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of a tensor with {self.size} elements is ambiguous; use .any() or .all()"
            )
        data = self.concrete("the truth of a tensor")
        return bool(np.asarray(data).reshape(())[()])

    def __int__(self) -> int:
        return int(self._scalar("int()"))

    def __float__(self) -> float:
        return float(self._scalar("float()"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex()"))

    def __index__(self) -> int:
        if self.dtype.category > 1:
            raise TypeError(f"only an integer tensor can be an index, not {self.dtype}")
        if self.size != 1:
            raise TypeError(f"only a tensor with one element can be an index, this one has shape {self.shape}")
        return int(self._scalar("use as an index"))

    def _scalar(self, use: str) -> Any:
        data = self.concrete(use)
        if data.size != 1:
            raise ValueError(f"{use} needs a tensor with one element, this one has shape {self.shape}")
        return np.asarray(data).reshape(())[()]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-dimensional tensor has no len()")
        return self.shape[0]

    def __format__(self, spec: str) -> str:
        if (hole := _written(self, spec)) is not None:
            return hole
        if spec and not self.shape:
            return format(self.item(), spec)
        return format(str(self), spec)

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        if (hole := _written(self, "")) is not None:
            return hole
        if data_of(self).__class__ is NoElements:
            return repr(self)
        if self.is_symbolic:
            self.concrete("printing")
        return formatting.text(self)

    def __repr__(self) -> str:
        if (hole := _written(self, "!r")) is not None:
            return hole
        if settled(self).__class__ is NoElements:
            return f"Tensor(shape={list(self.shape)}, dtype={self.dtype})"
        if self.is_symbolic:  # outside of a capture
            return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, symbolic)"
        return formatting.representation(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (np.array(self),)

    def __copy__(self) -> Tensor:
        return present(self)

    # -- writing ---------------------------------------------------------------------------------------

    def rebind(self, source: Tensor, region: Any = None) -> Tensor:
        """Make this handle stand for the value of another tensor, gradient history included; those that share elements
        with it get their new values.

        Args:
            source: the tensor whose value to take.
            region: what is new in it, as a step to it (see `weft.core.sharing`); None for all.

        Returns:
            Tensor: this tensor.
        """
        if _in_place is not None:
            source = _in_place(self, source)
        before = _on_write
        if before is not None:
            source = before(self, source)
        if (self._member is not None or before is not None) and _write_shared(self, source, region):
            return self
        try:
            self._data = source._data
        except AttributeError:
            self._data = data_of(source)
        self._node = source._node
        if source._node is not None and source._node is not SYMBOL:
            self._index = source._index
            written = WRITES.handles
            if written is not None:
                written[id(self)] = self
        self._type = source._type
        return self

    if TYPE_CHECKING:
        # what the declarations of the operations attach, for type checkers
        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __iter__(self) -> Iterator[Tensor]: ...
        def __deepcopy__(self, memodict: Any) -> Tensor: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lshift__(self, other: Any) -> Tensor: ...
        def __rshift__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...


class LiteralTensor(Tensor):
    """A tensor that stands for a Python number: immutable, shared, a constant in every graph."""

    __slots__ = ()


#: makes an initial value from an initializer or its name; installed by `weft.nn`
make_initial: Any = None


class _ParameterClass(type):
    """The class of the class of Parameters: what stands for one of several tensors says itself whether it is one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        answer = getattr(type(instance), "__weft_isinstance__", None)
        return False if answer is None else answer(instance, cls)


class Parameter(Tensor, metaclass=_ParameterClass):
    """A tensor that belongs to a network: named, stored, and by default trained.

    Args:
        default_input: initial value: a Tensor, an array-like, a number or an initializer.
        name: the name in checkpoints; None lets the owning Cell name it.
        requires_grad: whether optimizers train it.
        layerwise_parallel: kept for distributed programs.

    Example:
        >>> import weft
        >>> weft.Parameter(weft.Tensor([1.0]), name="w").requires_grad
        True
    """

    __slots__ = ("__dict__",)
    #: whether rows of it are fetched from a larger copy elsewhere; kept for programs that ask
    cache_enable: bool = False
    #: what programs for many devices say about it; kept
    cache_shape: tuple[int, ...] | list[int] = ()
    comm_fusion: int = 1
    key: int = -1
    parallel_optimizer_comm_recompute: bool = False
    sliced: bool = False
    inited_param: Parameter | None = None
    init_finished: bool = True
    place: Any = None  # where all of its values lie; None for where they come from
    stage: int | None = None  # of a pipeline, to which it belongs

    name: str
    requires_grad: bool
    #: how often some parameter took a value of another shape: graphs know the shapes of parameters
    reshaped: ClassVar[int] = 0

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
    ) -> None:
        refuse = _on_parameter
        if refuse is not None:
            refuse(self)
        super().__init__(default_input)
        if self._node is not None and not self.is_symbolic:
            self._node = None
        for what, value in (
            ("requires_grad", requires_grad),
            ("layerwise_parallel", layerwise_parallel),
            ("parallel_optimizer", parallel_optimizer),
        ):
            if not isinstance(value, bool):
                raise TypeError(f"{what} must be a bool, not {type(value).__name__}")
        if name is not None and not isinstance(name, str):
            raise ValueError(f"the name of a Parameter must be a str or None, not {type(name).__name__}")
        self.name = name or "Parameter"
        #: whether the name was given by the user, so that a Cell must not rename it
        self.has_name = bool(name)
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer

    @property
    def param_info(self) -> Parameter:
        """The parameter itself, which carries its own facts."""
        return self

    @property
    def data(self) -> Parameter:
        """The parameter itself; setting it gives it another value, also of another shape."""
        return self

    @data.setter
    def data(self, value: Any) -> None:
        self.set_data(value, slice_shape=True)

    @property
    def has_init(self) -> bool:
        """Whether an initializer is still pending; parameters here are always initialised."""
        return False

    def init_data(self, *_: Any, **__: Any) -> Parameter:
        """Return the initialised parameter (it always is)."""
        return self

    def set_dtype(self, dtype: DType) -> DType:
        """Give the parameter another element type; it stays the same object.

        Args:
            dtype: the element type.

        Returns:
            DType: the element type.
        """
        if dtype is not self.dtype:
            self._becomes_another_type()
            new = present(self).astype(dtype)
            _part(self)
            self.rebind(new)
        return dtype

    def _becomes_another_type(self) -> None:
        if _on_reshape is not None:
            _on_reshape()
        Parameter.reshaped += 1

    def add_pipeline_stage(self, stage: int) -> None:
        """Accepted for programs in stages.

        Args:
            stage: kept.

        Raises:
            TypeError: `stage` is no int.
            ValueError: it is negative.
        """
        if isinstance(stage, bool) or not isinstance(stage, int):
            raise TypeError(f"add_pipeline_stage: stage must be an int, not {type(stage).__name__}")
        if stage < 0:
            raise ValueError(f"add_pipeline_stage: stage must not be negative, got {stage}")
        self.__dict__.setdefault("pipeline_stages", []).append(stage)

    def value(self) -> Tensor:
        """The current value as a plain tensor."""
        return present(self)

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replace the value.

        Args:
            data: new value; same shape unless `slice_shape`, cast to the parameter's dtype.
            slice_shape: allow another shape.

        Raises:
            ValueError: the shape differs.
        """
        new = data if isinstance(data, Tensor) else Tensor(data)
        if new.shape != self.shape and not slice_shape:
            raise ValueError(
                f"parameter {self.name!r} has shape {self.shape}; a value of shape {new.shape} does not fit"
            )
        if new.dtype is not self.dtype:
            if new.dtype.category > self.dtype.category:
                raise TypeError(f"parameter {self.name!r} is {self.dtype}; a {new.dtype} value would lose information")
            new = new.astype(self.dtype)
        if new.shape != self.shape:
            self._becomes_another_type()
        _part(self)
        self.rebind(new)
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """A new parameter with the same value and settings, or another initial value."""
        initial: Any = view(self)
        if init != "same":
            assert make_initial is not None  # weft.nn.initializer is part of the package
            initial = make_initial(init, self.shape, self.dtype)
        copy = Parameter(initial, name=self.name, requires_grad=self.requires_grad)
        copy.has_name, copy.place = self.has_name, self.place
        if copy.place is not None:
            copy.rebind(view(copy))
        return copy

    def __repr__(self) -> str:
        if _on_shown is not None:
            _on_shown(self)
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, requires_grad={self.requires_grad})"
        )

    def __str__(self) -> str:
        return self.__repr__()

    def __reduce__(self) -> tuple[Any, ...]:
        here = ("place", "stage")  # where it is read the devices may be others
        facts = {name: fact for name, fact in self.__dict__.items() if name not in here}
        return _restore_parameter, (np.array(self), facts)

    def __copy__(self) -> Parameter:
        return self.clone()

    @keeps
    def __deepcopy__(self, memodict: Any) -> Parameter:
        return self.clone()


def _restore_parameter(array: np.ndarray[Any, Any], facts: dict[str, Any]) -> Parameter:
    result = Parameter(Tensor(array))
    result.__dict__.update(facts)
    return result


def data_of(tensor: Tensor) -> Any:
    """The device array or IR value that a tensor stands for: of one that shares memory with a NumPy array, a device
    array with what that holds now. Whatever reads a tensor that the program may hold reads it by this.
    """
    try:
        return tensor._data
    except AttributeError:
        return _look(tensor)


def settled(tensor: Tensor) -> Any:
    """The `data_of` a tensor when no other thread traces: until then it may hold a value of that thread's graph."""
    data = data_of(tensor)
    while data.__class__ is Value:
        if _await_others is not None:
            _await_others()
        now = data_of(tensor)
        if now is data:  # a value of this thread's graph, or of one that is gone
            break
        data = now
    return data


def wrap(data: Any) -> Tensor:
    """A tensor on a device array or IR value that nothing else refers to yet."""
    tensor: Tensor = _new(Tensor)
    tensor._data = data
    tensor._node = SYMBOL if data.__class__ is Value else None
    tensor._type = None
    tensor._member = None
    created = _on_create
    if created is not None and tensor._node is None:  # a constant of the capture: each call makes its own
        created(tensor)
    return tensor


def view(tensor: Tensor) -> Tensor:
    """A second, plain handle on a tensor's current value and gradient history."""
    result: Tensor = _new(Tensor)
    data = data_of(tensor)
    result._data = data if data.__class__ is not Value else settled(tensor)
    result._node = node = tensor._node
    if node is not None and node is not SYMBOL:
        result._index = tensor._index
    result._type = tensor._type
    result._member = None
    return result


def present(tensor: Tensor) -> Tensor:
    """Like `view`; while capturing, a handle on what the running graph will find in the tensor at this point."""
    read = _on_read
    return view(tensor) if read is None else read(tensor)


def tracked(data: Any, node: TapeNode, index: int) -> Tensor:
    """A tensor that is output `index` of a tape node."""
    tensor: Tensor = _new(Tensor)
    tensor._data = data
    tensor._node = node
    tensor._index = index
    tensor._type = None
    tensor._member = None
    return tensor


#: writes a tensor that may share elements: given the tensor, its new value and what is new, returns whether it did
_write_shared: Any = None


def install_sharing(write: Any) -> None:
    """Set what writes tensors that share elements."""
    global _write_shared
    _write_shared = write


#: what `weft.core.lending` does for tensors that share memory with NumPy arrays
_lend: Any = None
_borrow: Any = None
_look: Any = None
_part: Any = None


def install_lending(lend: Any, borrow: Any, look: Any, part: Any) -> None:
    """Set what makes the array of a tensor and the tensor of an array, reads a tensor that shares its memory, and is
    called before its value is replaced.
    """
    global _lend, _borrow, _look, _part
    _lend, _borrow, _look, _part = lend, borrow, look, part


_on_write: Any = None
_on_create: Any = None
_on_parameter: Any = None
_on_read: Any = None


#: whether only the running graph knows a tensor's value, installed while a trace is active
_is_runtime: Any = None
#: waits for the traces of other threads; None while there is none
_await_others: Any = None


def _written(tensor: Tensor, spec: str) -> str | None:
    """What stands in a text for a tensor that only the running graph of a capture knows; None for any other."""
    if _hole is None or not (tensor.is_symbolic or (_is_runtime is not None and _is_runtime(tensor))):
        return None
    found: str | None = _hole(tensor, spec)
    return found


#: set while a trace is active: asks its thread's trace for such a text
_hole: Any = None
#: likewise: told of each parameter of which a text is made
_on_shown: Any = None
#: called when a parameter gets another shape
_on_reshape: Any = None


#: the type of an array whose sizes a trace leaves open, None for others; None while there is no such trace
_open_type: Any = None
#: what stands in Python for the dimensions of a tensor of which some are open
_sizes: Any = None


#: gives the elements of an array that may lie on devices of several processes; None in one process
_read_by: Any = None


def whole_array(array: Any) -> Any:
    """An array with all of its elements in this process."""
    return array if _read_by is None else _read_by(array)


def read_by(read: Any) -> None:
    """Set what gives the elements of an array that may lie on devices of several processes."""
    global _read_by
    _read_by = read


#: gives what is written to a tensor in its place on several devices; None as long as no Parameter has one
_in_place: Any = None


def place_by(place: Any) -> None:
    """Set what gives a tensor that is written in the place of the one that it is written to."""
    global _in_place
    _in_place = place


def in_its_place(tensor: Tensor) -> Tensor:
    """The value of a tensor that was written, in the place that it has now: it may have got that after the write."""
    found: Tensor = tensor if _in_place is None else _in_place(tensor, tensor)
    return found


def observe(on_write: Any, on_create: Any, on_parameter: Any, on_read: Any) -> None:
    """Install the callbacks that a capture needs: before a handle is written (returns what to write), after a tensor
    is created from Python data, before a Parameter is created, to make a second handle on a tensor. None removes them.
    """
    global _on_write, _on_create, _on_parameter, _on_read
    _on_write, _on_create, _on_parameter, _on_read = on_write, on_create, on_parameter, on_read
