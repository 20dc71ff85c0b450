"""Files of images and words, names of older releases, libraries that are missing, operations that programs write."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft.mindspore  # noqa: F401
from tests.data_ops.answers import HERE, kept
from tests.data_ops.inputs import inputs
from weft.data import text, transforms, vision
from weft.data.operation import Operation

_, JPG = kept(HERE / "answers.npz")


def test_images_in_files(tmp_path: Path) -> None:
    given = inputs(JPG)
    png, jpeg, gray = str(tmp_path / "a.png"), str(tmp_path / "a.jpg"), str(tmp_path / "gray.png")
    vision.write_png(png, given["hwc"])
    vision.write_jpeg(jpeg, given["big"], 95)
    vision.write_png(gray, given["gray"], 9)
    assert np.array_equal(vision.read_image(png), given["hwc"])
    assert np.abs(vision.read_image(jpeg).astype(int) - given["big"]).mean() < 12
    assert np.array_equal(vision.read_image(gray)[..., 0], given["gray"])
    clear = str(tmp_path / "clear.png")
    given["pil_a"].save(clear)
    assert np.array_equal(vision.read_image(clear), given["hwc"])
    assert vision.read_image(png, vision.ImageReadMode.GRAYSCALE).shape == (12, 10, 1)
    assert vision.read_image(gray, vision.ImageReadMode.COLOR).shape == (12, 10, 3)
    assert np.array_equal(vision.Decode()(vision.read_file(png)), given["hwc"])
    assert np.array_equal(vision.Decode()(vision.encode_png(given["hwc"])), given["hwc"])


def test_tensors_are_encoded() -> None:
    import mindspore

    image = inputs(JPG)["hwc"]
    assert np.array_equal(vision.Decode()(vision.encode_png(mindspore.Tensor(image))), image)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: vision.read_file("/no/such/file"), RuntimeError),
        (lambda: vision.read_image("/no/such/file"), RuntimeError),
        (lambda: vision.read_file(1), TypeError),
        (lambda: vision.read_image("a.png", 1), TypeError),
        (lambda: vision.write_file("a", np.zeros(3, np.float32)), RuntimeError),
        (lambda: vision.encode_png(np.zeros((2, 2, 4), np.uint8)), RuntimeError),
        (lambda: vision.encode_png(np.zeros((2, 2, 3), np.uint8), 10), RuntimeError),
        (lambda: vision.encode_jpeg(np.zeros((2, 2, 3), np.uint8), 0), RuntimeError),
        (lambda: vision.encode_jpeg("a"), TypeError),
        (lambda: vision.encode_jpeg(np.zeros((2, 2, 3), np.float32)), RuntimeError),
        (lambda: text.Vocab.from_file("/no/such/file"), RuntimeError),
        (lambda: text.Vectors.from_file("/no/such/file"), RuntimeError),
    ],
)
def test_wrong_files(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_vocabularies_of_files(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("apple,1\nbanana,2\n pear ,3\n\nfig\n", encoding="utf-8")
    read = text.Vocab.from_file
    assert read(str(file)).vocab() == {"apple,1": 0, "banana,2": 1, " pear ,3": 2, "": 3, "fig": 4}
    assert read(str(file), ",").vocab() == {"apple": 0, "banana": 1, " pear ": 2, "": 3, "fig": 4}
    assert read(str(file), ",", 2, ["<pad>"], False).vocab() == {"apple": 0, "banana": 1, "<pad>": 2}
    assert read(str(file), ",", None, ["<pad>"]).tokens_to_ids("apple") == 1


class Rows:
    """A data set of two rows, as far as a vocabulary asks."""

    def create_dict_iterator(self, num_epochs: int = -1, output_numpy: bool = False) -> Any:
        assert num_epochs == 1
        assert output_numpy
        yield {"text": np.array(["b", "a", "c"]), "other": np.array(["z"])}
        yield {"text": np.array(["c", "a", "c"]), "other": np.array(["z"])}


def test_vocabulary_of_a_data_set() -> None:
    made = text.Vocab.from_dataset
    assert made(Rows(), "text").vocab() == {"c": 0, "a": 1, "b": 2}
    assert made(Rows()).vocab() == {"c": 0, "a": 1, "z": 2, "b": 3}
    assert made(Rows(), ["text"], (2, None), 1, ["<unk>"]).vocab() == {"<unk>": 0, "c": 1}
    with pytest.raises(ValueError, match="no column 'words'"):
        made(Rows(), "words")
    with pytest.raises(TypeError, match="dataset"):
        made(1)


def test_vectors_of_files(tmp_path: Path) -> None:
    lines = "ok 0.5 0.25 3\nis 1 2 3\n"
    for name, kind, head in (
        ("vectors.txt", text.Vectors, ""),
        ("glove.6B.3d.txt", text.GloVe, ""),
        ("words.vec", text.FastText, "2 3\n"),
    ):
        (tmp_path / name).write_text(head + lines, encoding="utf-8")
        vectors = kind.from_file(str(tmp_path / name))
        found = text.ToVectors(vectors, [9, 9, 9], True)(np.array(["ok", "zz", "IS"]))
        assert found.tolist() == [[0.5, 0.25, 3], [9, 9, 9], [1, 2, 3]]
        assert found.dtype == np.float32
        assert text.ToVectors(vectors)("zz").tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match=r"glove\.6B"):
        text.GloVe.from_file(str(tmp_path / "vectors.txt"))
    (tmp_path / "parts.txt").write_text("2gram-th 0 1 0\n3gram-the 0 0 1\n", encoding="utf-8")
    parts = text.CharNGram.from_file(str(tmp_path / "parts.txt"))
    assert text.ToVectors(parts)("the").tolist() == [0, 0.5, 0.5]


def test_names_of_older_releases() -> None:
    import mindspore.dataset.transforms.c_transforms as c_plain
    import mindspore.dataset.transforms.py_transforms as py_plain
    import mindspore.dataset.vision.c_transforms as c_vision
    import mindspore.dataset.vision.py_transforms as py_vision
    from mindspore.dataset.transforms.transforms import PyTensorOperation
    from mindspore.dataset.vision.py_transforms_util import adjust_brightness, augment_error_message, is_pil
    from mindspore.dataset.vision.utils import Border, Inter

    given = inputs(JPG)
    assert Inter.BICUBIC == vision.Inter.BICUBIC
    assert Border.EDGE is vision.Border.EDGE
    steps = [py_vision.Decode(), py_vision.ToTensor(), py_vision.Normalize([0.5] * 3, [0.5] * 3)]
    (done,) = py_plain.Compose(steps)(given["png"])
    np.testing.assert_allclose(done, given["fchw"] * 2 - 1, atol=1e-6)
    assert np.array_equal(c_vision.HWC2CHW()(c_vision.Decode()(given["png"])), given["chw"])
    assert c_plain.TypeCast(np.float32)(given["vec"]).dtype == np.float32
    assert py_plain.OneHotOp(3)(1).tolist() == [0, 1, 0]
    assert py_vision.Cutout(3)(given["chw"]).shape == (3, 12, 10)

    assert is_pil(given["pil"])
    assert "PIL image. Got 1." in augment_error_message.format(1)
    brighter = np.asarray(adjust_brightness(given["pil"], 1.5))
    assert np.array_equal(brighter, np.asarray(vision.AdjustBrightness(1.5)(given["pil"])))

    class Doubled(PyTensorOperation):  # type: ignore[misc]
        def _execute_py(self, row: Any) -> Any:
            return row * 2

    assert Doubled()(given["vec"]).tolist() == [2, 4, 6, 8]


def test_operations_of_programs() -> None:
    class Shifted(Operation):
        def apply(self, *columns: Any) -> Any:
            return columns[0] + 1

    assert transforms.Compose([Shifted(), Shifted()])(np.array([1])).tolist() == [3]
    with pytest.raises(RuntimeError, match="takes one column, but got 2"):
        Shifted()(np.array([1]), np.array([1]))
    with pytest.raises(NotImplementedError):
        Operation()(1)


def test_results_can_be_written() -> None:
    for step in (vision.ToNumpy(), vision.HWC2CHW(), vision.HorizontalFlip(), vision.ToTensor()):
        assert step(inputs(JPG)["pil"]).flags.writeable
    assert vision.Decode()(JPG).flags.writeable


def test_operations_go_to_other_processes() -> None:
    steps = [vision.Resize((4, 4)), vision.RandomHorizontalFlip(), vision.AutoAugment(), vision.HWC2CHW()]
    again = pickle.loads(pickle.dumps(transforms.Compose(steps)))
    assert again(inputs(JPG)["big"]).shape == (3, 4, 4)


PROGRAM = """
import sys
sys.modules["cv2"] = None
sys.modules["PIL"] = sys.modules["PIL.Image"] = None
import numpy as np
import weft.mindspore
from mindspore.dataset import text, transforms, vision
image = np.zeros((4, 4, 3), np.uint8)
assert vision.HWC2CHW()(image).shape == (3, 4, 4)
assert transforms.Compose([vision.VerticalFlip(), vision.ToTensor()])(image).shape == (3, 4, 4)
for step in (vision.Resize((2, 2)), vision.ToPIL()):
    try:
        step(image)
    except ImportError as error:
        assert 'pip install "weft[data]"' in str(error), error
    else:
        raise AssertionError(step)
"""


def test_missing_libraries_are_named() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_libraries_are_imported_when_needed() -> None:
    program = (
        "import sys, weft.mindspore\nfrom mindspore.dataset import vision, transforms, text\n"
        "vision.Resize((2, 2)), transforms.OneHot(3)\n"
        "assert not {'cv2', 'PIL'} & set(sys.modules), set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
