"""What scripts take from MindSpore's private runtime modules, as far as it means something here."""

from __future__ import annotations

from typing import Any

import jax

__all__ = ["_pynative_executor"]


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
