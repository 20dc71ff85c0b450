"""Tensors on buffers and DLPack, aliases of element types, floats of eight bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import Tensor, dtypes


def test_a_buffer_and_its_tensor_share_memory() -> None:
    import mindspore as ms

    data = bytearray(b"\1\2\3\4\5\6\7\0")
    tensor = ms.frombuffer(data, dtype=ms.uint8)
    data[0] = 9
    assert tensor.asnumpy().tolist() == [9, 2, 3, 4, 5, 6, 7, 0]
    tensor[1] = 8
    assert data[1] == 8
    assert ms.frombuffer(data, ms.int8, 2, 1).asnumpy().tolist() == [8, 3]
    assert ms.frombuffer(b"\0\0\x80\x3f", ms.float32).asnumpy().tolist() == [1.0]
    compiled = weft.jit(lambda: ms.frombuffer(data, ms.uint8) * 2)
    for value in (3, 4):
        data[0] = value
        assert int(compiled()[0]) == 2 * value


@pytest.mark.parametrize(
    ("buffer", "dtype", "count", "offset"),
    [
        (bytearray(3), "int32", -1, 0),
        (bytearray(2), "int8", 5, 0),
        (bytearray(2), "int8", -2, 0),
        (bytearray(2), "int8", 0, 0),
        (bytearray(2), "int8", -1, 5),
        (bytearray(0), "int8", -1, 0),
        (3, "int8", -1, 0),
    ],
)
def test_buffers_that_do_not_fit(buffer: Any, dtype: str, count: int, offset: int) -> None:
    import mindspore as ms

    with pytest.raises(RuntimeError):
        ms.frombuffer(buffer, dtype, count, offset)


def test_dlpack() -> None:
    from mindspore.utils import from_dlpack
    from mindspore.utils.dlpack import to_dlpack

    for kind in (dtypes.float32, dtypes.int64, dtypes.bool_, dtypes.float16):
        tensor = Tensor(np.array([[1, 0, 2]]), kind)
        found = from_dlpack(to_dlpack(tensor))
        assert found.dtype is kind
        assert found.asnumpy().tolist() == tensor.asnumpy().tolist()
    array = np.array([1.0, 2.0], np.float32)
    shared = from_dlpack(array)
    array[0] = 5
    assert shared.asnumpy().tolist() == [5, 2]
    tensor = Tensor([1.0, 2.0])

    class Holder:
        def __dlpack__(self, **_: Any) -> Any:
            return to_dlpack(tensor)

        def __dlpack_device__(self) -> Any:
            return 1, 0

    view = np.from_dlpack(Holder())
    tensor[0] = 7.0
    assert view.tolist() == [7, 2]
    assert type(to_dlpack(Tensor([1.0], dtypes.bfloat16))).__name__ == "PyCapsule"
    used = to_dlpack(tensor)
    from_dlpack(used)
    for bad in (used, 3):
        with pytest.raises(RuntimeError):
            from_dlpack(bad)
    with pytest.raises(TypeError):
        to_dlpack(3)


def test_aliases() -> None:
    import mindspore as ms
    from mindspore.common import dtype as mstype

    pairs = {
        "byte": "int8", "ubyte": "uint8", "ushort": "uint16", "intc": "int32", "uintc": "uint32", "intp": "int64",
        "uintp": "uint64", "single": "float32",
    }  # fmt: skip
    for module in (ms, mstype):
        for alias, name in pairs.items():
            assert getattr(module, alias) is getattr(ms, name)
    assert isinstance(ms.float32, ms.Type)
    assert isinstance(ms.int32, ms.Int)
    assert not isinstance(ms.uint8, ms.Int)
    assert not isinstance(ms.float32, mstype.Int)
    objects = [1, 1.5, True, 1j, "a", None, [1], (1,), int, ms.float32, len]
    names = [
        "int64",
        "float64",
        "bool",
        "complex128",
        "String",
        "type_none",
        "List",
        "Tuple",
        "int64",
        "TypeType",
        "Function",
    ]
    assert [repr(ms.get_py_obj_dtype(each)).removeprefix("mindspore.") for each in objects] == names
    assert ms.get_py_obj_dtype(Tensor([1.0])) == ms.TensorType(ms.float32)
    assert repr(ms.TensorType(ms.float32)) == "mindspore.tensor[float32]"
    with pytest.raises(NotImplementedError):
        ms.get_py_obj_dtype({})


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_floats_of_eight_bits(name: str) -> None:
    import mindspore as ms

    kind = getattr(ms, name)
    assert (kind.itemsize, kind.is_floating, repr(kind)) == (1, True, f"mindspore.{name}")
    values = np.array([1.0, -2.5, 448.0, 0.3], np.float32)
    rounded = values.astype(kind.np_dtype).astype(np.float32)
    tensor = Tensor(values, kind)
    assert tensor.dtype is kind
    for call in (lambda x: x.astype(ms.float32), weft.jit(lambda x: x.astype(ms.float32))):
        assert call(tensor).asnumpy().tolist() == rounded.tolist()
        assert call(Tensor(values).astype(kind)).asnumpy().tolist() == rounded.tolist()
    assert (tensor + Tensor(values)).dtype is ms.float32
    assert (tensor * 2).dtype is kind
    assert name.upper()[:6] in repr(tensor).upper()
    gradient = weft.grad(lambda x: (x.astype(kind).astype(ms.float32) * 3).sum())(Tensor(values))
    assert gradient.asnumpy().tolist() == [3, 3, 3, 3]
