"""`mindspore.mint.nn`: layers, activations and losses as cells."""

from __future__ import annotations

from weft.mint import layers as _layers
from weft.mint.cells import Dropout, Dropout2d
from weft.mint.cells import cells as _cells
from weft.mint.layers import *
from weft.nn.layer.basic import Identity

_MADE = _cells(__name__)
globals().update(_MADE)

__all__ = sorted({*_MADE, *_layers.__all__, "Dropout", "Dropout2d", "Identity"})  # noqa: PLE0605
