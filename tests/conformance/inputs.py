"""The names that the calls of the table are written with: the same inputs in MindSpore and in weft."""

from __future__ import annotations

import importlib
import zlib
from typing import Any

import numpy as np

#: element types by their short names
TYPES = {
    "f2": np.float16, "f4": np.float32, "f8": np.float64, "i1": np.int8, "i2": np.int16, "i4": np.int32,
    "i8": np.int64, "u1": np.uint8, "b": np.bool_, "c8": np.complex64,
}  # fmt: skip

#: files of operators that have some which `ops` does not offer
_FILES = ("math_ops", "nn_ops", "random_ops", "sparse_ops")


def array(name: str, *shape: int, seed: int = 0, low: float = -3.0, high: float = 3.0) -> Any:
    """Numbers between `low` and `high` that depend on the arguments only."""
    chosen = np.random.RandomState(zlib.crc32(repr((name, shape, seed)).encode()))
    found = np.round(chosen.uniform(low, high, shape), 2)
    if name == "b":
        return np.asarray(found > (low + high) / 2)
    if name == "u1":
        found = np.abs(found)
    if name[0] in "iu":
        found = np.floor(np.asarray(found) * 1.5 if low < 0 else found)
    if name == "c8":
        found = found + 1j * np.round(chosen.uniform(low, high, shape), 2)
    return np.asarray(found).astype(TYPES[name])


class ShapeOnly:
    """An answer whose elements are not compared: they are random, or whatever the memory held."""

    def __init__(self, value: Any) -> None:
        self.value = value


def names() -> dict[str, Any]:
    """What the calls may name; `mindspore` is whichever is installed or stands in for it."""
    ms = importlib.import_module("mindspore")
    mint = importlib.import_module("mindspore.mint")

    def t(name: str, *shape: int) -> Any:
        """A tensor."""
        return ms.Tensor(array(name, *shape))

    def s(name: str, *shape: int) -> Any:
        """A second tensor, with other elements; integers are not 0, since what dividing by 0 gives is the machine's."""
        found = array(name, *shape, seed=1)
        return ms.Tensor(
            np.where(found == 0, 1, found).reshape(shape).astype(found.dtype) if name[0] in "iu" else found
        )

    def u(name: str, *shape: int) -> Any:
        """Numbers between 0 and 1, neither of them."""
        return ms.Tensor(array(name, *shape, seed=2, low=0.05, high=0.95))

    def p(name: str, *shape: int) -> Any:
        """Positive numbers."""
        found = array(name, *shape, seed=3, low=0.5, high=3.5)
        return ms.Tensor(np.maximum(found, 1).reshape(shape).astype(found.dtype) if name[0] in "iu" else found)

    def ix(size: int, *shape: int, name: str = "i4") -> Any:
        """Indices below `size`."""
        return ms.Tensor(array(name, *shape, seed=4, low=0, high=size - 0.01))

    def coo(name: str = "f4") -> Any:
        """A sparse matrix of 2 rows and 3 columns, by coordinates."""
        return ms.COOTensor(v([[0, 1], [1, 2]], "i4"), t(name, 2), (2, 3))

    def csr(name: str = "f4") -> Any:
        """A sparse matrix of 2 rows and 3 columns, by rows."""
        return ms.CSRTensor(v([0, 1, 2], "i4"), v([1, 2], "i4"), t(name, 2), (2, 3))

    def pic(*shape: int, name: str = "u1") -> Any:
        """Pixels of a picture, as an array."""
        high = 255.0 if name == "u1" else 1.0
        return array(name, *shape, seed=5, low=0.0, high=high)

    def spd(name: str, size: int) -> Any:
        """A symmetric positive definite matrix."""
        rows = array(name, size, size)
        return ms.Tensor(rows @ rows.T + size * np.eye(size, dtype=rows.dtype))

    def par(name: str, *shape: int) -> Any:
        """A parameter."""
        return ms.Parameter(t(name, *shape), name="w")

    def v(values: Any, name: str = "f4") -> Any:
        """A tensor of these elements."""
        return ms.Tensor(np.array(values, TYPES[name]))

    def w(cell: Any) -> Any:
        """A cell whose parameters are filled one after the other, so that its answer does not depend on chance."""
        for at, each in enumerate(cell.get_parameters()):
            filled = array("f4", *each.shape, seed=10 + at, low=0.1, high=1.0)
            each.set_data(ms.Tensor(filled.astype(each.asnumpy().dtype)))
        return cell

    def after(effect: Any, value: Any) -> Any:
        """What a call returned and what it left in one of its arguments."""
        return effect, value

    def steps(make: Any, count: int = 2) -> Any:
        """The parameters after steps of an optimizer, with gradients that do not depend on chance."""
        made = [ms.Parameter(t("f4", 2, 3), name="a"), ms.Parameter(s("f4", 3), name="b")]
        optimizer = make(made)
        for at in range(count):
            optimizer(tuple(ms.Tensor(array("f4", *each.shape, seed=20 + at)) for each in made))
        return tuple(ms.Tensor(each.asnumpy()) for each in made)

    def rates(make: Any, count: int = 5) -> Any:
        """The learning rates that a scheduler gives one step after the other."""
        optimizer = xoptim.SGD([ms.Parameter(t("f4", 2), name="a")], lr=0.1, momentum=0.5)
        scheduler, found = make(optimizer), []
        for at in range(count):
            found.append(float(optimizer.param_groups[0]["lr"]))
            scheduler.step(*((1.0 + at % 3,) if isinstance(scheduler, sched.ReduceLROnPlateau) else ()))
        return found

    def measured(metric: Any, *given: Any) -> Any:
        """What a metric says after one update."""
        metric.clear()
        metric.update(*given)
        return metric.eval()

    xoptim = importlib.import_module("mindspore.experimental.optim")
    sched = importlib.import_module("mindspore.experimental.optim.lr_scheduler")
    dataset = importlib.import_module("mindspore.dataset")
    return {
        "__name__": __name__, "ms": ms, "ops": ms.ops, "mint": mint, "F": mint.nn.functional,
        "mnp": importlib.import_module("mindspore.numpy"),
        "nn": ms.nn, "init": importlib.import_module("mindspore.common.initializer"), "Tensor": ms.Tensor, "np": np,
        "linalg": importlib.import_module("mindspore.mint.linalg"),
        "special": importlib.import_module("mindspore.mint.special"),
        "optim": importlib.import_module("mindspore.mint.optim"),
        "t": t, "s": s, "u": u, "p": p, "ix": ix, "spd": spd, "par": par, "v": v, "w": w, "after": after,
        "steps": steps, "coo": coo, "csr": csr, "pic": pic, "rates": rates, "measured": measured,
        "npfft": importlib.import_module("mindspore.numpy.fft"),
        "dct": importlib.import_module("mindspore.scipy.fft"),
        "sla": importlib.import_module("mindspore.scipy.linalg"),
        "sopt": importlib.import_module("mindspore.scipy.optimize"),
        "dist": importlib.import_module("mindspore.nn.probability.distribution"),
        "bij": importlib.import_module("mindspore.nn.probability.bijector"),
        "xoptim": xoptim, "sched": sched, "train": importlib.import_module("mindspore.train"),
        "vision": dataset.vision, "transforms": dataset.transforms, "text": dataset.text,
        **{name: importlib.import_module(f"mindspore.ops.operations.{name}") for name in _FILES},
        "ag": importlib.import_module("mindspore.ops.auto_generate"),
        "array": array, "like": ShapeOnly, "inf": float("inf"), "nan": float("nan"),
    }  # fmt: skip
