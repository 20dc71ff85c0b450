"""What programs say about the function of a custom operator: kept, since the types are those of the call."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, Final, Self

__all__ = [
    "AiCPURegOp", "CustomRegOp", "DataType", "TBERegOp", "custom_info_register", "get_vm_impl_fn", "kernel",
    "op_info_register", "vm_impl_registry",
]  # fmt: skip

_TYPES: Final = {
    "BOOL": "bool", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "U8": "uint8", "U16": "uint16",
    "U32": "uint32", "U64": "uint64", "F16": "float16", "F32": "float32", "F64": "float64", "BF16": "bfloat16",
    "C64": "complex64", "C128": "complex128",
}  # fmt: skip
_FORMATS: Final = {
    "None": "", "Default": "DefaultFormat", "5HD": "NC1HWC0", "FracZ": "FRACTAL_Z", "FracNZ": "FRACTAL_NZ",
    "C1HWNCoC0": "C1HWNCoC0", "NCHW": "NCHW", "NHWC": "NHWC", "HWCN": "HWCN", "NDHWC": "NDHWC", "NCDHW": "NCDHW",
    "DHWCN": "DHWCN", "NDC1HWC0": "NDC1HWC0", "FRACTAL_Z_3D": "FRACTAL_Z_3D", "FracZNLSTM": "FRACTAL_ZN_LSTM",
    "FracZNRNN": "FRACTAL_ZN_RNN", "ND_RNNBIAS": "ND_RNN_BIAS", "ChannelLast": "ChannelLast",
}  # fmt: skip


class DataType:
    """Element types and layouts of inputs and outputs, as pairs: ``DataType.F32_Default``...

    Example:
        >>> DataType.F32_Default
        ('float32', 'DefaultFormat')
    """

    None_None = ("", "")
    None_Default = ("", "DefaultFormat")


for _name, _type in _TYPES.items():
    for _layout, _format in _FORMATS.items():
        setattr(DataType, f"{_name}_{_layout}", (_type, _format))


class CustomRegOp:
    """What is said about the function of a `Custom` operator, for its ``reg_info``.

    Args:
        op_name: name of the operator.

    Example:
        >>> info = CustomRegOp().input(0, "x").output(0, "y").dtype_format(("float32", ""), ("float32", ""))
        >>> [part["name"] for part in info.target("CPU").get_op_info()["inputs"]]
        ['x']
    """

    def __init__(self, op_name: str = "Custom") -> None:
        if not isinstance(op_name, str) or not op_name:
            raise TypeError(f"CustomRegOp: op_name is the name of an operator, not {op_name!r}")
        self.op_name = op_name
        self._parts: dict[str, Any] = {"inputs": [], "outputs": [], "attr": [], "dtype_format": [], "target": ""}

    def _note(self, kind: str, named: dict[str, Any], others: dict[str, Any]) -> Self:
        known = {name: value for name, value in named.items() if value is not None}
        self._parts[kind].append({**known, **others})
        return self

    def input(
        self, index: int | None = None, name: str | None = None, param_type: str = "required", **kwargs: Any
    ) -> Self:
        """Describe an input.

        Args:
            index: its position.
            name: its name.
            param_type: ``"required"``, ``"optional"`` or ``"dynamic"``.
            kwargs: anything else.
        """
        return self._note("inputs", {"index": index, "name": name, "param_type": param_type}, kwargs)

    def output(
        self, index: int | None = None, name: str | None = None, param_type: str = "required", **kwargs: Any
    ) -> Self:
        """Describe an output, see `input`."""
        return self._note("outputs", {"index": index, "name": name, "param_type": param_type}, kwargs)

    def attr(
        self,
        name: str | None = None,
        param_type: str | None = None,
        value_type: str | None = None,
        default_value: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Describe an attribute.

        Args:
            name: its name.
            param_type: ``"required"`` or ``"optional"``.
            value_type: ``"int"``, ``"listFloat"``...
            default_value: as text.
            kwargs: anything else.
        """
        named = {"name": name, "param_type": param_type, "value_type": value_type, "default_value": default_value}
        return self._note("attr", named, kwargs)

    def dtype_format(self, *args: Any) -> Self:
        """Say one combination of element types and layouts, inputs first.

        Args:
            args: pairs, see `DataType`.
        """
        self._parts["dtype_format"].append(args)
        return self

    def target(self, target: str | None = None) -> Self:
        """Say the device: ``"CPU"``, ``"GPU"`` or ``"Ascend"``."""
        self._parts["target"] = target or ""
        return self

    def get_op_info(self) -> dict[str, Any]:
        """All of it, as a dictionary."""
        return {"op_name": self.op_name, **copy.deepcopy(self._parts)}


class _KernelRegOp:
    """What is said about a kernel of an accelerator: kept, and given back as a dictionary.

    Args:
        op_name: name of the operator.
    """

    #: words of the dictionary, and what each argument of `input`, `output` and `attr` is called there
    _kind: ClassVar[str]
    _of_tensors: ClassVar[tuple[str, ...]]
    _of_attributes: ClassVar[tuple[str, ...]]
    #: single facts: the method that says one, its word in the dictionary, what it is if nothing is said
    _facts: ClassVar[dict[str, tuple[str, Any]]] = {}

    def __init__(self, op_name: str) -> None:
        if not isinstance(op_name, str) or not op_name:
            raise TypeError(f"{type(self).__name__}: op_name is the name of an operator, not {op_name!r}")
        self._info: dict[str, Any] = {"op_name": op_name, "inputs": [], "outputs": [], "attr": [], "fusion_type": ""}
        self._info |= {"dtype_format": [], "imply_type": self._kind, **dict(self._facts.values())}

    def _listed(self, part: str, words: tuple[str, ...], given: tuple[Any, ...], named: dict[str, Any]) -> Self:
        said = dict(zip(words, given, strict=False))
        self._info[part].append({word: value for word, value in said.items() if value is not None} | named)
        return self

    def input(self, *args: Any, **kwargs: Any) -> Self:
        """Describe an input: its position, its name, and what else is known."""
        return self._listed("inputs", self._of_tensors, args, kwargs)

    def output(self, *args: Any, **kwargs: Any) -> Self:
        """Describe an output, as `input` does."""
        return self._listed("outputs", self._of_tensors, args, kwargs)

    def attr(self, *args: Any, **kwargs: Any) -> Self:
        """Describe an attribute."""
        return self._listed("attr", self._of_attributes, args, kwargs)

    def dtype_format(self, *args: Any) -> Self:
        """Say one combination of element types and layouts, see `DataType`."""
        self._info["dtype_format"].append(args)
        return self

    def fusion_type(self, fusion_type: str) -> Self:
        """Say how the kernel can be joined with others."""
        self._info["fusion_type"] = fusion_type
        return self

    def get_op_info(self) -> dict[str, Any]:
        """All of it, as a dictionary."""
        return copy.deepcopy(self._info)

    def __getattr__(self, name: str) -> Any:
        if name not in type(self)._facts:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def say(value: Any) -> _KernelRegOp:
            self._info[self._facts[name][0]] = value
            return self

        return say


class AiCPURegOp(_KernelRegOp):
    """What is said about a kernel on the processors of an Ascend device.

    Args:
        op_name: name of the operator.

    Example:
        >>> AiCPURegOp("Add").input(0, "x").get_op_info()["inputs"]
        [{'index': 0, 'name': 'x'}]
    """

    _kind = "AiCPU"
    _of_tensors = ("index", "name", "paramType")
    _of_attributes = ("name", "type", "value")


class TBERegOp(_KernelRegOp):
    """What is said about a kernel of the cores of an Ascend device.

    Args:
        op_name: name of the operator.

    Example:
        >>> TBERegOp("Add").kernel_name("add").get_op_info()["kernel"]
        'add'
    """

    _kind = "TBE"
    _of_tensors = ("index", "name", "needCompile", "paramType", "shape")
    _of_attributes = ("name", "paramType", "type", "value")
    _facts: ClassVar[dict[str, tuple[str, Any]]] = {
        "async_flag": ("async_flag", False),
        "binfile_name": ("binfile", ""),
        "compute_cost": ("compute_cost", 10),
        "kernel_name": ("kernel", ""),
        "partial_flag": ("partial_flag", False),
        "reshape_type": ("reshape_type", ""),
        "dynamic_rank_support": ("dynamicRankSupport", False),
        "dynamic_shape": ("dynamicShapeSupport", False),
        "dynamic_compile_static": ("dynamicCompileStatic", False),
        "need_check_supported": ("needCheckSupport", False),
        "is_dynamic_format": ("dynamicFormat", False),
        "op_pattern": ("op_pattern", ""),
        "real_input_index": ("real_input_index", []),
        "input_to_attr_index": ("input_to_attr_index", []),
        "unknown_shape_formats": ("unknown_shape_formats", []),
    }


def op_info_register(op_info: Any) -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is: kernels of other devices are not called.

    Args:
        op_info: what is said about the kernel.

    Raises:
        ValueError: nothing is said.

    Example:
        >>> op_info_register(AiCPURegOp("Add").get_op_info())(len)([1, 2])
        2
    """
    if not op_info:
        raise ValueError("op_info_register: op_info is what a TBERegOp or AiCPURegOp says, not nothing")
    return lambda function: function


def custom_info_register(*reg_info: Any) -> Callable[[Any], Any]:
    """A decorator that leaves the function of a `Custom` operator as it is, with what is said about it.

    Args:
        reg_info: what `CustomRegOp` gives, or dictionaries.

    Example:
        >>> custom_info_register(CustomRegOp().get_op_info())(abs)(-1)
        1
    """
    del reg_info
    return lambda function: function


def kernel(fn: Any = None, reg_info: Any = None, compile_attrs: Any = None) -> Any:
    """A decorator that leaves a function for a `Custom` operator as it is: it is Python here.

    Args:
        fn: the function.
        reg_info: what is said about it.
        compile_attrs: settings of a compiler.

    Example:
        >>> @kernel
        ... def double(x):
        ...     return x * 2
        >>> double(2)
        4
    """
    del reg_info, compile_attrs
    return (lambda function: function) if fn is None else fn


class _Implementations(dict[str, Callable[..., Any]]):
    """Functions that compute operators in Python, by the names of these."""

    def register(self, prim: Any) -> Callable[[Any], Any]:
        """A decorator that registers a function.

        Args:
            prim: the operator, its class or its name.
        """

        def keep(function: Any) -> Any:
            self[_name_of(prim)] = function
            return function

        return keep


def _name_of(prim: Any) -> str:
    return prim if isinstance(prim, str) else prim.__name__ if isinstance(prim, type) else str(prim.name)


vm_impl_registry: Final = _Implementations()


def get_vm_impl_fn(prim: Any) -> Callable[..., Any] | None:
    """The function that the program registered for an operator; None if it did not.

    Args:
        prim: the operator, its class or its name.

    Example:
        >>> from weft import ops
        >>> @vm_impl_registry.register("Type")
        ... def type_of(self):
        ...     return type
        >>> get_vm_impl_fn("Type") is type_of
        True
    """
    return vm_impl_registry.get(_name_of(prim))
