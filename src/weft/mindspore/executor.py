"""What scripts take from MindSpore's private runtime modules, as far as it means something here."""

from __future__ import annotations

from typing import Any

import jax

__all__ = ["MSContext", "StubTensor", "_pynative_executor"]


class PynativeExecutor:
    """The part of the eager executor that scripts call."""

    def sync(self) -> None:
        """Wait until everything that was computed so far is there."""
        for array in jax.live_arrays():
            array.block_until_ready()
        jax.effects_barrier()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"weft has no _pynative_executor.{name}; it offers sync()")


_pynative_executor = PynativeExecutor()


class MSContext:
    """The part of the settings' own class that scripts ask."""

    _instance: MSContext | None = None

    @classmethod
    def get_instance(cls) -> MSContext:
        """The one instance.

        Example:
            >>> MSContext.get_instance().get_ascend_soc_version()
            ''
        """
        cls._instance = cls._instance or cls()
        return cls._instance

    def get_ascend_soc_version(self) -> str:
        """The kind of Ascend chip: none."""
        return ""


class StubTensor:
    """What stood for a tensor that was still computed. No value is one: tensors that are still computed are tensors."""
