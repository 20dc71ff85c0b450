"""What programs say about a Cell besides what it computes: kept and given back, and nothing else follows from it."""

from __future__ import annotations

from typing import Any, Self


class Remarks:
    """The part of a Cell that keeps what is said about it for parallel training, accelerators and listings."""

    _flags: dict[str, Any]
    _settings: dict[str, Any]

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
        return self

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Describe the inputs (sizes that vary are None); kept for the compiler.

        Args:
            inputs: Tensors in call order.
            kwargs: Tensors by parameter name.
        """
        self._note("inputs", kwargs or inputs)

    def get_inputs(self) -> Any:
        """What `set_inputs` was given."""
        return self._settings.get("inputs")

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Accepted for programs that name a parameter server; parameters stay on the device.

        Args:
            recurse: also for sub-cells.
            init_in_server: kept.
        """
        self._note("param_ps", (recurse, init_in_server))

    def set_jit_config(self, jit_config: Any) -> None:
        """Keep compile settings for GRAPH_MODE.

        Args:
            jit_config: the settings.
        """
        self._note("jit_config", jit_config)

    def set_boost(self, boost_type: str) -> Self:
        """Accepted for programs that ask for a training accelerator.

        Args:
            boost_type: kept.
        """
        return self._note("boost", boost_type)

    def shard(self, in_strategy: Any, out_strategy: Any = None, **kwargs: Any) -> Self:
        """Record a sharding of inputs and outputs (used by parallel programs).

        Args:
            in_strategy: for the inputs.
            out_strategy: for the outputs.
            kwargs: further settings, kept.
        """
        return self._note("shard", (in_strategy, out_strategy, kwargs))

    def flatten_weights(self, fusion_size: int = 0) -> None:
        """Accepted for programs that ask for contiguous weights; the compiler lays memory out.

        Args:
            fusion_size: kept.
        """
        self._note("flatten_weights", fusion_size)

    @property
    def pipeline_stage(self) -> int | None:
        """Pipeline stage of the cell, None if not set."""
        return self._settings.get("pipeline_stage")

    @pipeline_stage.setter
    def pipeline_stage(self, value: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"pipeline_stage must be a non-negative int, not {value!r}")
        self._note("pipeline_stage", value)
