"""What programs import from single files of MindSpore's packages, and from its private helpers."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import weft
import weft.mindspore
from weft import nn, ops
from weft.mindspore.table import API_VERSION, MODULES


@pytest.mark.parametrize(
    ("file", "package", "name"),
    (
        ("mindspore.ops.operations.image_ops", "mindspore.ops.operations", "ResizeBilinearV2"),
        ("mindspore.ops.operations.sparse_ops", "mindspore.ops.operations", "Add"),
        ("mindspore.nn.layer.padding", "mindspore.nn", "Pad"),
        ("mindspore.nn.layer.rnn_cells", "mindspore.nn", "LSTMCell"),
        ("mindspore.nn.wrap.grad_reducer", "mindspore.nn", "DistributedGradReducer"),
        ("mindspore.nn.metrics.accuracy", "mindspore.nn", "Accuracy"),
        ("mindspore.nn.optim.lamb", "mindspore.nn", "Lamb"),
        ("mindspore.nn.probability.distribution.normal", "mindspore.nn.probability.distribution", "Normal"),
        ("mindspore.train.callback._callback", "mindspore.train.callback", "Callback"),
        ("mindspore.train.metrics.topk", "mindspore.train", "TopKCategoricalAccuracy"),
        ("mindspore.numpy.math_ops", "mindspore.numpy", "norm"),
        ("mindspore.experimental.optim.adamw", "mindspore.experimental.optim", "AdamW"),
    ),
)
def test_a_file_of_a_package_offers_what_the_package_does(file: str, package: str, name: str) -> None:
    assert file in MODULES
    inside = getattr(importlib.import_module(file), name)
    assert inside is getattr(importlib.import_module(package), name)


def test_versions_and_former_names() -> None:
    import mindspore as ms
    from mindspore import version
    from mindspore.version import __version__

    assert version.__version__ == __version__ == API_VERSION
    assert ms.ms_class is ms.jit_class


def test_operators_are_kept_by_class_and_arguments() -> None:
    from mindspore.ops._primitive_cache import _get_cache_prim

    assert _get_cache_prim(ops.Concat)(1) is _get_cache_prim(ops.Concat)(1)
    assert _get_cache_prim(ops.Concat)(1) is not _get_cache_prim(ops.Concat)(0)
    assert _get_cache_prim(ops.Concat)(1) is not _get_cache_prim(ops.Concat)(True)  # equal, of another type
    assert _get_cache_prim(ops.ReduceSum)(keep_dims=True) is not _get_cache_prim(ops.ReduceMax)(keep_dims=True)

    class Net(nn.Cell):
        def construct(self, x: weft.Tensor, axis: int) -> weft.Tensor:
            return _get_cache_prim(ops.Concat)(axis)((x, x))

    net, jitted = Net(), weft.jit(Net())
    for value in (1.0, 2.0):
        x = weft.Tensor([[value, 3.0]])
        for axis in (0, 1):
            assert jitted(x, axis).tolist() == net(x, axis).tolist()


def test_losses_to_show_and_folders(tmp_path: Path) -> None:
    from mindspore.train._utils import _make_directory
    from mindspore.train.callback._callback import _handle_loss

    assert _handle_loss(weft.Tensor(1.5)) == _handle_loss((weft.Tensor([1.5]), weft.Tensor(False))) == 1.5
    assert _handle_loss(None) is None
    assert _handle_loss(weft.Tensor([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert _make_directory(str(tmp_path / "a" / "b")) == str(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(TypeError):
        _make_directory("")


def test_fans() -> None:
    from mindspore.common.initializer import _calculate_fan_in_and_fan_out

    assert _calculate_fan_in_and_fan_out((3, 4)) == (4, 3)
    assert _calculate_fan_in_and_fan_out((3, 4, 5, 6)) == (120, 90)


@pytest.mark.parametrize(
    ("check", "arguments", "error", "says"),
    (
        ("check_positive_int", (0, "n", "Net"), ValueError, "For 'Net', the 'n' must be int and must > 0, but got '0'"),
        ("check_positive_int", (0,), ValueError, "The input value must be int and must > 0, but got '0' with type"),
        ("check_positive_int", (1.5, "n", "Net"), TypeError, "For 'Net', the 'n' must be int, but got 'float'"),
        ("check_positive_int", (True, "n"), TypeError, "The 'n' must be int and must > 0, but got 'True' with type"),
        ("check_int", (3, 4, 6, "n", "Net"), ValueError, "For 'Net', the 'n' must be int and must >= 4, but got '3'"),
        ("check_int_range", (5, 0, 3, 8, "n", "Net"), ValueError, "the 'n' must be in range of [0, 3), but got 5 with"),
        ("check_float_range", (1, 0.0, 1.0, 10, "n", "Net"), TypeError, "the 'n' must be 'float',  but got 'int'."),
        ("check_is_float", (1, "x", "N"), TypeError, "For 'N', the type of 'x' must be 'float', but got 'int'."),
        ("check_bool", (1, "b", "N"), TypeError, "For 'N', the 'b' must be a bool, but got int."),
        ("check_string", ("a", ["b", "c"], "m", "N"), ValueError, "the 'm' must be str and must be in '['b', 'c']'"),
        ("check_value_type", ("v", 1, [str, float], "N"), TypeError, "should be one of '['str', 'float']', but got"),
        ("check_value_type", ("v", True, (int,), "N"), TypeError, "type of 'v' should be 'int', but got type 'bool'."),
        ("check_isinstance", ("v", 1, str), ValueError, "The parameter 'v' must be isinstance of <class 'str'>"),
        ("check_number", ("n", 3, 4, 6, "N"), ValueError, "For 'N', the argument 'n' must >= 4, but got 3."),
        ("check", ("x", 1, "y", 2, 1, "N"), ValueError, "For 'N', the 'x' should be = y: 2, but got 1."),
        ("check_subclass", ("t", weft.float32, (weft.int32,), "N"), TypeError, "'t' must be Int32, but got Float32."),
        ("check_positive_int_sequence", ([1, 0], "s", "N"), ValueError, "For 'N', the 's[1]' must be int and must > 0"),
        ("check_is_number", ("a", int, "n", "N"), TypeError, "the type of 'n' must be 'int', but got 'str'."),
    ),
)
def test_checks_say_what_mindspore_says(
    check: str, arguments: tuple[object, ...], error: type[Exception], says: str
) -> None:
    from mindspore import _checkparam
    from mindspore._checkparam import Validator

    for function in (getattr(_checkparam, check), getattr(Validator, check)):
        with pytest.raises(error) as caught:
            function(*arguments)
        assert type(caught.value) is error
        assert says in str(caught.value)


def test_checks_that_pass_give_the_value() -> None:
    from mindspore._checkparam import Rel, Validator, twice

    assert Validator.check_positive_int(3) == 3
    assert Validator.check_float_range(0.5, 0.0, 1.0, Rel.INC_BOTH) == 0.5
    assert Validator.check_value_type("x", True, [bool, int]) is True
    assert Validator.check_string("b", ["a", "b"]) == "b"
    assert (twice(3), twice((1, 2))) == ((3, 3), (1, 2))


def test_kinds_of_datasets() -> None:
    import mindspore.dataset as ds

    source = ds.NumpySlicesDataset([1, 2])
    for kind in (ds.VisionBaseDataset, ds.TextBaseDataset, ds.AudioBaseDataset, ds.UnionBaseDataset):
        assert isinstance(source, kind)
        assert isinstance(source.batch(2).repeat(2), kind)
    assert issubclass(ds.ImageFolderDataset, ds.VisionBaseDataset)
    assert not issubclass(ds.ImageFolderDataset, ds.TextBaseDataset)
    assert issubclass(ds.TextFileDataset, ds.TextBaseDataset)
    assert not issubclass(ds.TextFileDataset, ds.VisionBaseDataset)
    assert issubclass(ds.MindDataset, ds.UnionBaseDataset)


@pytest.mark.parametrize(
    ("mode", "size", "expected"),
    (
        ("align_corners", 7, [0.0, 0.5, 1.0, 1.9142135, 2.8284271, 4.01229, 5.1961527]),
        ("half_pixel", 7, [0.0, 0.35714287, 0.9285714, 1.9142135, 2.9975502, 4.3505363, 5.1961527]),
        ("half_pixel", 3, [0.16666667, 1.9142135, 4.8015318]),
        ("align_corners", 1, [0.0]),
        ("half_pixel", 1, [0.0]),
    ),
)
def test_resizing_lines_gives_what_mindspore_gives(mode: str, size: int, expected: list[float]) -> None:
    from mindspore.ops.operations.image_ops import ResizeLinear1D

    resize = ResizeLinear1D(mode)
    jitted = weft.jit(lambda x, size: resize(x, size))
    for factor in (1.0, 2.0):
        x = weft.Tensor([[[i**1.5 * factor for i in range(4)]]], weft.float32)
        wanted = pytest.approx([factor * value for value in expected], rel=1e-6)
        assert resize(x, weft.Tensor([size]))[0, 0].tolist() == wanted
        assert jitted(x, (size,))[0, 0].tolist() == wanted
    with pytest.raises(ValueError, match="coordinate_transformation_mode"):
        ResizeLinear1D("asymmetric")(x, (3,))


def test_the_size_of_a_dataset_is_an_attribute_once_it_was_asked() -> None:
    import mindspore.dataset as ds

    batches = ds.NumpySlicesDataset([1, 2, 3]).batch(2)
    repeated = batches.repeat(2)
    assert repeated.dataset_size is None
    assert repeated.get_dataset_size() == repeated.dataset_size == 4
    assert batches.dataset_size is None


def test_all_of_mnist_is_what_the_folder_has(tmp_path: Path) -> None:
    import mindspore.dataset as ds

    def write(part: str, count: int) -> None:
        sizes = [(2051).to_bytes(4, "big"), *(n.to_bytes(4, "big") for n in (count, 28, 28))]
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(b"".join(sizes) + bytes(count * 784))
        labels = (2049).to_bytes(4, "big") + count.to_bytes(4, "big") + bytes(count)
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(labels)

    with pytest.raises(RuntimeError, match="there is no file"):
        ds.MnistDataset(str(tmp_path)).get_dataset_size()
    write("train", 3)
    assert ds.MnistDataset(str(tmp_path)).get_dataset_size() == 3
    assert ds.MnistDataset(str(tmp_path), "train").get_dataset_size() == 3
    with pytest.raises(RuntimeError, match="there is no file t10k"):
        ds.MnistDataset(str(tmp_path), "test").get_dataset_size()
    write("t10k", 2)
    assert ds.MnistDataset(str(tmp_path)).get_dataset_size() == 5
