"""OpenCV and Pillow, imported when an operation first needs them."""

from __future__ import annotations

import importlib
from typing import Any


class _Library:
    """A module of the extra `data`, imported when an attribute of it is first read."""

    def __init__(self, module: str, package: str) -> None:
        self._module = module
        self._package = package

    def __getattr__(self, name: str) -> Any:
        try:
            module = importlib.import_module(self._module)
        except ImportError as missing:
            raise ImportError(
                f'operations on images need {self._package}, which is not installed: pip install "weft[data]"'
            ) from missing
        found = getattr(module, name)
        setattr(self, name, found)
        return found


cv2: Any = _Library("cv2", "OpenCV")
Image: Any = _Library("PIL.Image", "Pillow")
ImageEnhance: Any = _Library("PIL.ImageEnhance", "Pillow")
ImageOps: Any = _Library("PIL.ImageOps", "Pillow")
