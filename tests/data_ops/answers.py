"""What calls answer, in a form that can be kept: run with MindSpore's interpreter, this file records what it answers.

``python tests/data_ops/answers.py`` in the folder of the repository, with MindSpore, NumPy and Pillow installed, writes
``answers.npz`` anew for the calls in ``calls.txt``.
"""

from __future__ import annotations

import enum
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
CALLS = [line for line in (HERE / "calls.txt").read_text(encoding="utf-8").splitlines() if line.strip()]


def names() -> dict[str, Any]:
    """What the calls may name, of the MindSpore that is installed or of weft behind its door."""
    import mindspore
    from mindspore.dataset import text, transforms, vision
    from PIL import Image

    return {
        "np": np,
        "Image": Image,
        "mindspore": mindspore,
        "vision": vision,
        "transforms": transforms,
        "text": text,
        "Inter": vision.Inter,
        "Border": vision.Border,
        "Relational": transforms.Relational,
    }


def answer(call: str, known: dict[str, Any], given: dict[str, Any]) -> Any:
    """What a call gives, or the name of the class of the error that it raises."""
    try:
        return flat(eval(call, {**known, **given}))
    except Exception as error:
        return ["error", type(error).__name__]


def flat(value: Any) -> Any:
    """A value as lists, numbers, texts and arrays."""
    if hasattr(value, "mode") and hasattr(value, "getbands"):
        return ["pil", value.mode, np.asarray(value)]
    if isinstance(value, np.ndarray):
        return ["text", value.shape, value.tolist()] if value.dtype.kind == "U" else ["array", "", value]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, [flat(each) for each in value]]
    if isinstance(value, dict):
        return ["dict", sorted([key, flat(each)] for key, each in value.items())]
    if isinstance(value, (int, float, str, type(None))) and not isinstance(value, enum.Enum):
        return [type(value).__name__, value]
    return ["object", type(value).__name__]


def keep(file: Path, answers: dict[str, Any], jpg: Any) -> None:
    """Write answers: their form as JSON, and all numbers, each array once."""
    chunks: list[bytes] = []
    places: dict[bytes, int] = {}

    def without_arrays(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [without_arrays(each) for each in value]
        if not isinstance(value, np.ndarray):
            return value
        content = value.tobytes()
        if content not in places:
            places[content] = sum(map(len, chunks))
            chunks.append(content)
        kind = value.dtype.str if value.dtype.kind in "biufS" else value.dtype.name
        return {"dtype": kind, "shape": value.shape, "at": places[content]}

    form = json.dumps({call: without_arrays(value) for call, value in answers.items()})
    np.savez_compressed(
        file, form=np.frombuffer(form.encode(), np.uint8), content=np.frombuffer(b"".join(chunks), np.uint8), jpg=jpg
    )


def kept(file: Path) -> tuple[dict[str, Any], Any]:
    """The answers of a file, and the bytes of the JPEG image."""
    with np.load(file) as stored:
        content, jpg = stored["content"].tobytes(), stored["jpg"]
        form = json.loads(stored["form"].tobytes())

    def with_arrays(value: Any) -> Any:
        if isinstance(value, dict):
            shape = value["shape"]
            count = int(np.prod(shape))
            return np.frombuffer(content, value["dtype"], count, value["at"]).reshape(shape)
        return [with_arrays(each) for each in value] if isinstance(value, list) else value

    return {call: with_arrays(value) for call, value in form.items()}, jpg


def record() -> None:
    """Write what the MindSpore that is installed answers."""
    sys.path.insert(0, str(HERE))
    from inputs import inputs  # type: ignore[import-not-found]

    _, jpg = kept(HERE / "answers.npz")
    known = names()
    keep(HERE / "answers.npz", {call: answer(call, known, inputs(jpg)) for call in CALLS}, jpg)


if __name__ == "__main__":
    record()
