"""What programs say about a Cell besides what it computes."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, Self

from weft import dtypes
from weft.core import described
from weft.cuts import check_strategies
from weft.dtypes import DType
from weft.ops._checks import positive_ints
from weft.parallel.strategies import plan


class MixedPrecisionType(IntEnum):
    """The element types that a Cell can be set to compute in."""

    NOTSET = 0
    FP16 = 1
    FP32 = 2
    BF16 = 3
    AUTOCAST = 4


#: the element types in which calls compute
ELEMENTS: Final = {
    MixedPrecisionType.FP16: dtypes.float16,
    MixedPrecisionType.FP32: dtypes.float32,
    MixedPrecisionType.BF16: dtypes.bfloat16,
}


def _numbered(name: str, doc: str) -> Any:
    """An attribute that is a number from 0, or None as long as it is not set."""

    def found(cell: Remarks) -> int | None:
        return cell._settings.get(name)

    def keep(cell: Remarks, value: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{name} must be a non-negative int, not {value!r}")
        cell._note(name, value)

    return property(found, keep, doc=doc)


_kept = described(
    boost_type="kept.", fusion_size="kept.", init_in_server="kept.", mode="kept.", recurse="also for sub-cells."
)


class Remarks:
    """The part of a Cell that keeps what is said about it for parallel training, accelerators and listings."""

    _flags: dict[str, Any]
    _settings: dict[str, Any]

    def _refresh_extras(self) -> None:
        """Note whether a call has to do more than `construct`; Cells have it."""

    @property
    def bprop_debug(self) -> bool:
        """Whether a custom derivative can be stepped through with a debugger (it always can)."""
        return bool(self._settings.get("bprop_debug", False))

    @bprop_debug.setter
    def bprop_debug(self, value: bool) -> None:
        self._settings["bprop_debug"] = bool(value)

    def get_flags(self) -> dict[str, Any]:
        """The attached settings."""
        return dict(self._flags)

    def get_scope(self) -> str | None:
        """The path noted by `generate_scope`."""
        return self.__dict__.get("_scope")

    def _note(self, name: str, value: Any) -> Self:
        self._settings[name] = value
        self._refresh_extras()
        return self

    @_kept
    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Accepted for programs that name a parameter server; parameters stay on the device."""
        self._note("param_ps", (recurse, init_in_server))

    def set_jit_config(self, jit_config: Any) -> None:
        """Keep compile settings for GRAPH_MODE.

        Args:
            jit_config: the settings.
        """
        self._note("jit_config", jit_config)

    @_kept
    def set_boost(self, boost_type: str) -> Self:
        """Accepted for programs that ask for a training accelerator."""
        return self._note("boost", boost_type)

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None, **kwargs: Any) -> Self:
        """Spread inputs and outputs over devices; what the Cell computes stays the same.

        Args:
            in_strategy: for each input, into how many parts each dimension is cut, or its `Layout`.
            out_strategy: the same for each output.
            parameter_plan: for parameters by name, how each is cut.
            kwargs: further settings, kept.

        Returns:
            The Cell.

        Raises:
            TypeError: a strategy is no tuple, or not of ints or a `Layout` for each tensor.
            ValueError: a dimension is cut into less than one part, or the Cell has no such parameter.
        """
        name = f"{type(self).__name__}.shard"
        check_strategies(name, "in_strategy", in_strategy)
        check_strategies(name, "out_strategy", out_strategy)
        if parameter_plan is not None:
            plan(name, self, parameter_plan)
        return self._note("shard", (in_strategy, out_strategy, kwargs))

    @_kept
    def flatten_weights(self, fusion_size: int = 0) -> None:
        """Accepted for programs that ask for contiguous weights; the compiler lays memory out."""
        self._note("flatten_weights", fusion_size)

    pipeline_stage = _numbered("pipeline_stage", "Pipeline stage of the cell, None if not set.")
    pipeline_segment = _numbered("pipeline_segment", "Segment of a pipeline that the cell belongs to, None if not set.")

    def offload(self, backward_prefetch: str | int = "Auto") -> None:
        """Accepted for programs that keep intermediate results elsewhere; they stay on the device.

        Args:
            backward_prefetch: ``"Auto"``, or how many operations ahead a backward pass fetches them; kept.

        Raises:
            TypeError: it is something else.
            ValueError: it is another text, or not positive.
        """
        if not isinstance(backward_prefetch, str):
            positive_ints("offload", backward_prefetch=backward_prefetch)
        elif backward_prefetch != "Auto":
            raise ValueError(f"backward_prefetch must be 'Auto' or an int, not {backward_prefetch!r}")
        self._note("offload", backward_prefetch)

    @_kept
    def set_broadcast_flag(self, mode: bool = True) -> Self:
        """Accepted for programs that give all devices the parameters of one."""
        return self._note("broadcast", bool(mode))

    def set_data_parallel(self) -> None:
        """Accepted for programs that share batches among devices."""
        self._note("data_parallel", True)

    def remove_redundant_parameters(self) -> None:
        """Accepted for programs that leave parts of parameters to other devices; each parameter is whole here."""

    @property
    def jit_config_dict(self) -> dict[str, Any]:
        """The compile settings kept by `set_jit_config`."""
        return dict(getattr(self._settings.get("jit_config"), "jit_config_dict", {}))

    def update_cell_type(self, cell_type: str) -> None:
        """Note what kind of network the cell is part of, such as ``"quant"``.

        Args:
            cell_type: then readable as the attribute `cell_type`.
        """
        self.cell_type = cell_type

    def set_mixed_precision_type(self, mixed_type: MixedPrecisionType, recursive: bool = True) -> None:
        """Compute in an element type as after `to_float`.

        Args:
            mixed_type: the element type.
            recursive: also the cells below.
        """
        self._compute_in(ELEMENTS.get(MixedPrecisionType(mixed_type)), recursive)

    def _compute_in(self, dtype: DType | None, recursive: bool) -> None:
        """Have calls cast what they take to an element type."""
        this: Any = self
        for _, cell in this.cells_and_names() if recursive else [("", this)]:
            cell._cast_type = dtype
            cell._refresh_extras()

    def get_mixed_precision_type(self) -> MixedPrecisionType:
        """In which element type the cell has been set to compute."""
        found = self.__dict__.get("_cast_type")
        return next((kind for kind, dtype in ELEMENTS.items() if dtype is found), MixedPrecisionType.NOTSET)

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Self:
        """Group the gradient exchange of the parameters (kept; the compiler groups by itself).

        Args:
            fusion_type: group number.
            recurse: also for sub-cells.
        """
        this: Any = self
        for param in this.get_parameters(expand=recurse):
            param.__dict__["comm_fusion"] = fusion_type
        return self

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Any, Any]:
        """The parameters mapped to their initialised selves (they always are initialised).

        Args:
            auto_parallel_mode: accepted.
        """
        del auto_parallel_mode
        this: Any = self
        return {param: param for param in this.get_parameters()}
