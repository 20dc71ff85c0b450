"""Sources of images with annotations: VOC and COCO."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.data.conversion import Row
from weft.data.files import decoded, folder_of, one_of, read_bytes
from weft.data.kinds import VisionBaseDataset
from weft.data.sources import MappableDataset

#: columns whose names begin so are not given by iterators until they are renamed
META = "_meta-"


class _Annotated(MappableDataset, VisionBaseDataset):
    """Images in files, each with arrays."""

    def __init__(
        self, decode: bool, extra_metadata: bool, decrypt: Callable[[str], bytes] | None, *sampling: Any
    ) -> None:
        super().__init__(*sampling)
        self.decode = decode
        self.extra_metadata = extra_metadata
        self.decrypt = decrypt
        self._entries: list[tuple[str, tuple[np.ndarray[Any, Any] | str, ...]]] | None = None

    def read(self) -> list[tuple[str, tuple[np.ndarray[Any, Any] | str, ...]]]:
        """For each image its path, and its arrays, or the path of another image."""
        raise NotImplementedError

    def named(self) -> list[str]:
        """The names of the columns."""
        raise NotImplementedError

    def entries(self) -> list[tuple[str, tuple[np.ndarray[Any, Any] | str, ...]]]:
        """What `read` gave."""
        if self._entries is None:
            self._entries = self.read()
            if not self._entries:
                raise RuntimeError(f"{type(self).__name__}: there is no image with annotations")
        return self._entries

    def columns(self) -> list[str]:
        return [*self.named(), *([META + "filename"] if self.extra_metadata else [])]

    def total(self) -> int:
        return len(self.entries())

    def row_at(self, place: int) -> Row:
        path, parts = self.entries()[place]
        row = [self._image(path), *[self._image(part) if isinstance(part, str) else part.copy() for part in parts]]
        if self.extra_metadata:
            row.append(np.asarray(os.path.splitext(os.path.basename(path))[0]))
        return tuple(row)

    def _image(self, path: str) -> np.ndarray[Any, Any]:
        content = read_bytes(path) if self.decrypt is None else np.frombuffer(self.decrypt(path), np.uint8)
        return decoded(content, path) if self.decode else content


class VOCDataset(_Annotated):
    """Images with segmentations or boxes, in the layout of VOC.

    Args:
        dataset_dir: the folder with ``ImageSets``, ``JPEGImages``, ``Annotations``, ``SegmentationClass``.
        task: ``"Segmentation"``: columns image and target; ``"Detection"``: image, bbox (left, top, width, height),
            label, difficult and truncate.
        usage: name of the list of images.
        class_indexing: the number of each class by its name, others are left out; in the order of the names, if not
            given.
        num_samples: how many rows at most.
        num_parallel_workers: how many images may be in work at once.
        shuffle: whether in random order, which it is if not said.
        decode: whether the images are decoded.
        sampler: chooses rows.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
        extra_metadata: whether there is a column with the names of the files.
        decrypt: called with a path, gives the bytes of the image.
    """

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Segmentation",
        usage: str = "train",
        class_indexing: dict[str, int] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        extra_metadata: bool = False,
        decrypt: Callable[[str], bytes] | None = None,
    ) -> None:
        self.dataset_dir = folder_of(dataset_dir)
        self.task = one_of("task", task, ("Segmentation", "Detection"))
        if task == "Segmentation" and class_indexing is not None:
            raise ValueError("class_indexing is not supported in Segmentation task.")
        self.class_indexing = class_indexing
        folder = "Segmentation" if task == "Segmentation" else "Main"
        self._list = os.path.join(self.dataset_dir, "ImageSets", folder, f"{usage}.txt")
        if not os.path.isfile(self._list):
            raise ValueError(f"VOCDataset: there is no file {self._list}")
        sampling = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        super().__init__(decode, extra_metadata, decrypt, *sampling)

    def named(self) -> list[str]:
        detection = ["image", "bbox", "label", "difficult", "truncate"]
        return ["image", "target"] if self.task == "Segmentation" else detection

    def _names(self) -> list[str]:
        with open(self._list, encoding="utf-8") as stream:
            return [line.split()[0] for line in stream if line.split()]

    def _objects(self, name: str) -> list[tuple[str, list[float], int, int]]:
        path = os.path.join(self.dataset_dir, "Annotations", f"{name}.xml")
        found = []
        try:
            for each in ElementTree.parse(path).getroot().iter("object"):
                box = each.find("bndbox")
                if box is None:
                    raise ValueError("an object without a bndbox")
                left, top, right, bottom = (float(box.findtext(side, "")) for side in ("xmin", "ymin", "xmax", "ymax"))
                flags = [int(each.findtext(flag) or 0) for flag in ("difficult", "truncated")]
                found.append((each.findtext("name", ""), [left, top, right - left, bottom - top], flags[0], flags[1]))
        except (OSError, ValueError, ElementTree.ParseError) as error:
            raise RuntimeError(f"VOCDataset: {path} cannot be read: {error}") from error
        return found

    def get_class_indexing(self) -> dict[str, Any]:
        if self.task == "Segmentation":
            raise NotImplementedError("Only 'Detection' supports get_class_indexing.")
        if self.class_indexing is None:
            names = {found[0] for name in self._names() for found in self._objects(name)}
            self.class_indexing = {name: number for number, name in enumerate(sorted(names))}
        return dict(self.class_indexing)

    def read(self) -> list[tuple[str, tuple[np.ndarray[Any, Any] | str, ...]]]:
        entries: list[tuple[str, tuple[np.ndarray[Any, Any] | str, ...]]] = []
        classes = {} if self.task == "Segmentation" else self.get_class_indexing()
        for name in self._names():
            image = os.path.join(self.dataset_dir, "JPEGImages", f"{name}.jpg")
            if self.task == "Segmentation":
                entries.append((image, (os.path.join(self.dataset_dir, "SegmentationClass", f"{name}.png"),)))
                continue
            objects = [each for each in self._objects(name) if each[0] in classes]
            if objects:
                boxes = np.asarray([each[1] for each in objects], np.float32)
                numbers = [[classes[each[0]], each[2], each[3]] for each in objects]
                columns = np.asarray(numbers, np.uint32).T[..., None]
                entries.append((image, (boxes, *columns)))
        return entries


class CocoDataset(_Annotated):
    """Images with annotations in the format of COCO.

    Args:
        dataset_dir: the folder of the images.
        annotation_file: the JSON file of the annotations.
        task: ``"Detection"``: columns image, bbox, category_id and iscrowd; ``"Stuff"``: image, segmentation and
            iscrowd; ``"Keypoint"``: image, keypoints and num_keypoints.
        num_samples: how many rows at most.
        num_parallel_workers: how many images may be in work at once.
        shuffle: whether in random order, which it is if not said.
        decode: whether the images are decoded.
        sampler: chooses rows.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
        extra_metadata: whether there is a column with the names of the files.
        decrypt: called with a path, gives the bytes of the image.
    """

    def __init__(
        self,
        dataset_dir: str,
        annotation_file: str,
        task: str = "Detection",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        extra_metadata: bool = False,
        decrypt: Callable[[str], bytes] | None = None,
    ) -> None:
        self.dataset_dir = folder_of(dataset_dir)
        self.task = one_of("task", task, ("Detection", "Stuff", "Keypoint"))
        if not os.path.isfile(annotation_file):
            raise ValueError(f"The file {annotation_file} does not exist or permission denied!")
        self.annotation_file = annotation_file
        self._content: dict[str, Any] | None = None
        sampling = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        super().__init__(decode, extra_metadata, decrypt, *sampling)

    def named(self) -> list[str]:
        return {
            "Detection": ["image", "bbox", "category_id", "iscrowd"],
            "Stuff": ["image", "segmentation", "iscrowd"],
            "Keypoint": ["image", "keypoints", "num_keypoints"],
        }[self.task]

    def _said(self) -> dict[str, Any]:
        if self._content is None:
            try:
                with open(self.annotation_file, encoding="utf-8") as stream:
                    self._content = dict(json.load(stream))
            except ValueError as error:
                raise RuntimeError(f"CocoDataset: {self.annotation_file} is no JSON: {error}") from error
        return self._content

    def get_class_indexing(self) -> dict[str, Any]:
        return {each["name"]: [each["id"]] for each in self._said().get("categories", [])}

    def read(self) -> list[tuple[str, tuple[np.ndarray[Any, Any] | str, ...]]]:
        content = self._said()
        by_image: dict[Any, list[dict[str, Any]]] = {}
        try:
            for each in content["annotations"]:
                by_image.setdefault(each["image_id"], []).append(each)
            return [
                (os.path.join(self.dataset_dir, image["file_name"]), self._arrays(by_image[image["id"]]))
                for image in content["images"]
                if image["id"] in by_image
            ]
        except (KeyError, TypeError) as error:
            raise RuntimeError(f"CocoDataset: {self.annotation_file} does not say {error}") from error

    def _arrays(self, annotations: list[dict[str, Any]]) -> tuple[np.ndarray[Any, Any], ...]:
        def numbers(key: str) -> np.ndarray[Any, Any]:
            return np.asarray([[each[key]] for each in annotations], np.uint32)

        if self.task == "Detection":
            boxes = np.asarray([each["bbox"] for each in annotations], np.float32)
            return boxes, numbers("category_id"), numbers("iscrowd")
        if self.task == "Keypoint":
            return np.asarray([each["keypoints"] for each in annotations], np.float32), numbers("num_keypoints")
        outlines = [self._outline(each["segmentation"]) for each in annotations]
        longest = max(map(len, outlines))
        filled = [[*outline, *[-1.0] * (longest - len(outline))] for outline in outlines]
        return np.asarray(filled, np.float32), numbers("iscrowd")

    @staticmethod
    def _outline(segmentation: Any) -> list[float]:
        if isinstance(segmentation, dict):
            return list(segmentation["counts"])
        return [value for polygon in segmentation for value in polygon]
