"""What programs say about the function of a custom operator: kept, since the types are those of the call."""

from __future__ import annotations

import copy
from typing import Any, Final, Self

__all__ = ["CustomRegOp", "DataType"]

_TYPES: Final = {
    "BOOL": "bool", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "U8": "uint8", "U16": "uint16",
    "U32": "uint32", "U64": "uint64", "F16": "float16", "F32": "float32", "F64": "float64", "BF16": "bfloat16",
    "C64": "complex64", "C128": "complex128",
}  # fmt: skip
_FORMATS: Final = {
    "None": "", "Default": "DefaultFormat", "5HD": "NC1HWC0", "FracZ": "FRACTAL_Z", "FracNZ": "FRACTAL_NZ",
    "C1HWNCoC0": "C1HWNCoC0", "NCHW": "NCHW", "NHWC": "NHWC", "HWCN": "HWCN", "NDHWC": "NDHWC",
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
