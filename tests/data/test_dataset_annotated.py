"""VOC and COCO: the numbers are those that MindSpore 2.10 gives for the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import data as ds

cv2 = pytest.importorskip("cv2")


def rows(dataset: Any) -> list[dict[str, Any]]:
    return [
        {name: (str(x.dtype), x.tolist() if x.size < 20 else int(x.sum())) for name, x in row.items()}
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    ]


@pytest.fixture
def voc(tmp_path: Path) -> Path:
    for name in ("JPEGImages", "SegmentationClass", "Annotations", "ImageSets/Segmentation", "ImageSets/Main"):
        (tmp_path / name).mkdir(parents=True)
    for i in range(2):
        cv2.imwrite(str(tmp_path / f"JPEGImages/p{i}.jpg"), np.full((6, 5, 3), 100 + i, np.uint8))
        cv2.imwrite(str(tmp_path / f"SegmentationClass/p{i}.png"), np.full((6, 5, 3), i * 40, np.uint8))
        objects = "".join(
            f"<object><name>{name}</name><truncated>{flag}</truncated><difficult>{flag}</difficult><bndbox>"
            f"<xmin>{1 + k}</xmin><ymin>2</ymin><xmax>{3 + k}</xmax><ymax>5</ymax></bndbox></object>"
            for k, (name, flag) in enumerate([("dog", 1), ("cat", 0)][: i + 1])
        )
        (tmp_path / f"Annotations/p{i}.xml").write_text(f"<annotation>{objects}</annotation>")
    for name in ("Segmentation", "Main"):
        (tmp_path / f"ImageSets/{name}/train.txt").write_text("p0\np1\n")
    return tmp_path


def test_voc(voc: Path) -> None:
    assert rows(ds.VOCDataset(voc, shuffle=False, decode=True)) == [
        {"image": ("uint8", 9000), "target": ("uint8", 0)},
        {"image": ("uint8", 9090), "target": ("uint8", 3600)},
    ]
    data = ds.VOCDataset(voc, "Detection", shuffle=False, decode=True)
    assert data.get_class_indexing() == {"cat": 0, "dog": 1}
    assert rows(data)[1] == {
        "image": ("uint8", 9090),
        "bbox": ("float32", [[1.0, 2.0, 2.0, 3.0], [2.0, 2.0, 2.0, 3.0]]),
        "label": ("uint32", [[1], [0]]),
        "difficult": ("uint32", [[1], [0]]),
        "truncate": ("uint32", [[1], [0]]),
    }
    only = ds.VOCDataset(voc, "Detection", shuffle=False, class_indexing={"dog": 5})
    assert [row["label"] for row in rows(only)] == [("uint32", [[5]])] * 2
    more = ds.VOCDataset(voc, "Detection", shuffle=False, extra_metadata=True)
    assert more.get_col_names()[-1] == "_meta-filename"
    assert "_meta-filename" not in rows(more)[0]
    assert rows(more.rename(["_meta-filename"], ["file"]))[1]["file"] == ("<U2", "p1")
    (voc / "Annotations/p1.xml").write_text("<annotation>")
    with pytest.raises(RuntimeError, match=r"p1\.xml cannot be read"):
        rows(ds.VOCDataset(voc, "Detection"))


def test_coco(tmp_path: Path) -> None:
    for i in range(3):
        cv2.imwrite(str(tmp_path / f"p{i}.jpg"), np.full((6, 5, 3), 100 + i, np.uint8))

    def annotation(image: int, category: int, box: list[float], crowd: int, outline: Any) -> dict[str, Any]:
        facts = {"image_id": image, "category_id": category, "bbox": box, "iscrowd": crowd, "segmentation": outline}
        return {**facts, "keypoints": [1, 1, 2], "num_keypoints": 1}

    content = {
        "images": [{"id": 7 + i, "file_name": f"p{i}.jpg"} for i in range(3)],
        "annotations": [
            annotation(8, 3, [1, 2, 3, 4], 0, [[1, 2, 3, 4, 5, 6]]),
            annotation(7, 9, [0, 1, 2, 2.5], 0, [[1, 1, 2, 2, 3, 3]]),
            annotation(8, 9, [0, 0, 1, 1], 1, {"counts": [1, 2], "size": [2, 3]}),
        ],
        "categories": [{"id": 3, "name": "dog"}, {"id": 9, "name": "cat"}],
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    data = ds.CocoDataset(tmp_path, str(path), shuffle=False, decode=True)
    assert data.get_class_indexing() == {"dog": [3], "cat": [9]}
    assert rows(data) == [
        {
            "image": ("uint8", 9000),
            "bbox": ("float32", [[0.0, 1.0, 2.0, 2.5]]),
            "category_id": ("uint32", [[9]]),
            "iscrowd": ("uint32", [[0]]),
        },
        {
            "image": ("uint8", 9090),
            "bbox": ("float32", [[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 1.0, 1.0]]),
            "category_id": ("uint32", [[3], [9]]),
            "iscrowd": ("uint32", [[0], [1]]),
        },
    ]
    stuff = rows(ds.CocoDataset(tmp_path, str(path), "Stuff", shuffle=False))[1]
    assert stuff["segmentation"] == ("float32", [[1, 2, 3, 4, 5, 6], [1, 2, -1, -1, -1, -1]])
    points = rows(ds.CocoDataset(tmp_path, str(path), "Keypoint", shuffle=False))[1]
    assert points["keypoints"] == ("float32", [[1, 1, 2], [1, 1, 2]])
    assert points["num_keypoints"] == ("uint32", [[1], [1]])
