"""Corpora of texts, CelebA and manifests: the rows are those that MindSpore 2.10 gives for the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import data as ds

TEXTS = {
    "two": ('"1","a, b"\n"2","c ""d"""\n', '"2","test"\n'),
    "three": ('"1","a, b","c\\nd"\n"2","c ""d""",""\n', '"2","test","t"\n'),
    "four": ('"3","Title, one","Some ""quoted"" text","last"\n"1","second","",""\n', '"2","title","text","best"\n'),
}
LABELLED: dict[str, tuple[str, list[str], bool]] = {
    "AGNewsDataset": ("three", ["index", "title", "description"], False),
    "AmazonReviewDataset": ("three", ["label", "title", "content"], False),
    "DBpediaDataset": ("three", ["class", "title", "content"], False),
    "SogouNewsDataset": ("three", ["index", "title", "content"], True),
    "YahooAnswersDataset": ("four", ["class", "title", "content", "answer"], False),
    "YelpReviewDataset": ("two", ["label", "text"], True),
}
ROWS = {
    "two": ([["1", "a, b"], ["2", 'c "d"']], [["2", "test"]]),
    "three": ([["1", "a, b", "c\\nd"], ["2", 'c "d"', ""]], [["2", "test", "t"]]),
    "four": (
        [["3", "Title, one", 'Some "quoted" text', "last"], ["1", "second", "", ""]],
        [["2", "title", "text", "best"]],
    ),
}


def rows(dataset: Any) -> list[list[Any]]:
    found = [[x.tolist() for x in row] for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert dataset.get_dataset_size() == len(found)
    return found


@pytest.mark.parametrize("name", LABELLED)
def test_texts_with_labels(name: str, tmp_path: Path) -> None:
    kind, columns, train_first = LABELLED[name]
    for part, content in zip(("train", "test"), TEXTS[kind], strict=True):
        (tmp_path / f"{part}.csv").write_text(content)
    make = getattr(ds, name)
    train, test = ROWS[kind]
    assert rows(make(str(tmp_path), "train", shuffle=False)) == train
    assert rows(make(str(tmp_path), usage="test", shuffle=False)) == test
    first, second = (train, test) if train_first else (test, train)
    both = make(str(tmp_path), shuffle=False)
    # rows of the two files in turn
    assert rows(both) == [first[0], second[0], *first[1:], *second[1:]]
    assert both.get_col_names() == columns
    assert sorted(rows(make(str(tmp_path)))) == sorted([*train, *test])
    with pytest.raises(ValueError, match="Input usage is not within the valid set"):
        make(str(tmp_path), "zz")
    with pytest.raises(ValueError, match="does not exist or is not a directory"):
        make(str(tmp_path / "none"))
    (tmp_path / "test.csv").unlink()
    with pytest.raises(RuntimeError, match=r"there is no file test\.csv"):
        make(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "file"), [("WikiTextDataset", "wiki.{}.tokens"), ("PennTreebankDataset", "ptb.{}.txt")]
)
def test_running_text(name: str, file: str, tmp_path: Path) -> None:
    for part in ("train", "test", "valid"):
        (tmp_path / file.format(part)).write_text(f" \n = {part} = \n\n line two \n")
    make = getattr(ds, name)
    for part in ("train", "test", "valid"):
        assert rows(make(str(tmp_path), part, shuffle=False)) == [[" "], [f" = {part} = "], [" line two "]]
    assert len(rows(make(str(tmp_path)))) == 9
    assert make(str(tmp_path)).get_col_names() == ["text"]
    with pytest.raises(ValueError, match="usage"):
        make(str(tmp_path), "zz")


def test_reviews_of_films(tmp_path: Path) -> None:
    for part in ("train", "test"):
        for kind in ("pos", "neg"):
            (tmp_path / part / kind).mkdir(parents=True)
            for number in range(2):
                (tmp_path / part / kind / f"{number}_{number}.txt").write_text(f"{part} {kind} {number} <br /> text")
    train = [[f"train {kind} {n} <br /> text", int(kind == "pos")] for kind in ("pos", "neg") for n in range(2)]
    found = ds.IMDBDataset(str(tmp_path), "train", shuffle=False)
    assert rows(found) == train
    assert next(iter(found.create_tuple_iterator(output_numpy=True)))[1].dtype == np.int32
    assert [label for _, label in rows(ds.IMDBDataset(str(tmp_path), shuffle=False))] == [1, 1, 0, 0] * 2
    assert len(rows(ds.IMDBDataset(str(tmp_path), "test", sampler=ds.PKSampler(1)))) == 2
    with pytest.raises(ValueError, match="usage"):
        ds.IMDBDataset(str(tmp_path), "zz")
    (tmp_path / "none").mkdir()
    with pytest.raises(RuntimeError, match="no reviews"):
        ds.IMDBDataset(str(tmp_path / "none")).get_dataset_size()


@pytest.fixture
def images(tmp_path: Path) -> Path:
    cv2 = pytest.importorskip("cv2")
    for number in range(1, 4):
        cv2.imwrite(str(tmp_path / f"00000{number}.png"), np.full((2, 3, 3), number * 10, np.uint8))
    lines = ["3", "A B C ", "000001.png  1 -1  1", "000002.png -1 -1 -1", "000003.png  1  1  1"]
    (tmp_path / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_faces(images: Path) -> None:
    def attributes(**options: Any) -> list[Any]:
        found = ds.CelebADataset(str(images), shuffle=False, decode=True, **options)
        assert found.get_col_names() == ["image", "attr"]
        read = found.create_tuple_iterator(num_epochs=1, output_numpy=True)
        return [(int(image.sum()), attr.tolist(), str(attr.dtype)) for image, attr in read]

    everything = [(180, [1, 0, 1], "uint32"), (360, [0, 0, 0], "uint32"), (540, [1, 1, 1], "uint32")]
    assert attributes() == everything
    with pytest.raises(RuntimeError, match="Partition file can not be found"):
        attributes(usage="train")
    (images / "list_eval_partition.txt").write_text("000001.png 0\n000002.png 1\n000003.png 2\n")
    for usage, expected in zip(("train", "valid", "test"), everything, strict=True):
        assert attributes(usage=usage) == [expected]
    with pytest.raises(ValueError, match="usage should be"):
        attributes(usage="zz")
    with pytest.raises(RuntimeError, match="there are no images"):
        attributes(extensions=[".jpg"])
    for wrong in ("4\nA B C\n000001.png 1 1 1\n", "1\nA B C\n000001.png 1 1\n", "x\n", "1\nA\n000001.png y\n"):
        (images / "list_attr_celeba.txt").write_text(wrong)
        with pytest.raises(RuntimeError, match="CelebADataset"):
            attributes()


def test_manifests(images: Path) -> None:
    listed = [("000001", "TRAIN", ["cat"]), ("000002", "TRAIN", ["dog", "ant"]), ("000003", "EVAL", ["cat"])]
    manifest = images / "m.json"
    manifest.write_text(
        "\n".join(
            json.dumps(
                {
                    "source": str(images / f"{name}.png"),
                    "usage": usage,
                    "annotation": [{"type": "modelarts/image_classification", "name": label} for label in labels],
                }
            )
            for name, usage, labels in listed
        )
    )

    def labels(usage: str = "train", **options: Any) -> Any:
        found = ds.ManifestDataset(str(manifest), usage, shuffle=False, decode=True, **options)
        read = found.create_tuple_iterator(num_epochs=1, output_numpy=True)
        return [(int(image.sum()), label.tolist()) for image, label in read]

    assert labels() == [(180, 1), (360, [2, 0])]
    assert labels("eval") == [(540, 0)]
    assert labels(class_indexing={"dog": 7, "ant": 3}) == [(360, [7, 3])]
    assert ds.ManifestDataset(str(manifest)).get_class_indexing() == {"ant": 0, "cat": 1, "dog": 2}
    assert ds.ManifestDataset(str(manifest)).num_classes() == 3
    with pytest.raises(RuntimeError, match="lists no images"):
        labels("inference")
    with pytest.raises(ValueError, match="does not exist"):
        ds.ManifestDataset(str(images / "none.json"))
    for wrong in ("{", "[]", '{"usage": "TRAIN"}', '{"usage": "TRAIN", "source": "a", "annotation": [5]}'):
        manifest.write_text(wrong)
        with pytest.raises(RuntimeError, match="line 1 cannot be read"):
            labels()
