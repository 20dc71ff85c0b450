"""Sources of images that a file lists: CelebA, and manifests."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.data.checks import names_of
from weft.data.conversion import Row
from weft.data.files import decoded, folder_of, read_bytes
from weft.data.kinds import VisionBaseDataset
from weft.data.sources import MappableDataset


class CelebADataset(MappableDataset, VisionBaseDataset):
    """CelebA: images of faces, and for each attribute whether it is there: columns image and attr (uint32).

    Args:
        dataset_dir: the folder of the images and of ``list_attr_celeba.txt``.
        num_parallel_workers: how many images may be in work at once.
        shuffle: whether in random order, which it is if not said.
        usage: ``"train"``, ``"valid"`` or ``"test"``, as ``list_eval_partition.txt`` says; or ``"all"``.
        sampler: chooses rows.
        decode: whether the images are decoded.
        extensions: endings of the files that are read; all, if not given.
        num_samples: how many rows at most.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.
        decrypt: called with a path, gives the bytes of the image.

    Raises:
        ValueError: there is no such folder or usage.
        RuntimeError: a file is missing or damaged.
    """

    def __init__(
        self,
        dataset_dir: str,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        usage: str = "all",
        sampler: Any = None,
        decode: bool = False,
        extensions: Any = None,
        num_samples: int | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable[[str], bytes] | None = None,
    ) -> None:
        self.dataset_dir = folder_of(dataset_dir)
        if usage not in ("all", "train", "valid", "test"):
            raise ValueError("usage should be 'all', 'train', 'valid' or 'test'.")
        self._partition = os.path.join(self.dataset_dir, "list_eval_partition.txt")
        if usage != "all" and not os.path.isfile(self._partition):
            raise RuntimeError("Partition file can not be found when usage is not 'all'.")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.usage = usage
        self.decode = decode
        self.decrypt = decrypt
        self.extensions = None if extensions is None else tuple(names_of("extensions", extensions))
        self._entries: list[tuple[str, list[int]]] | None = None

    def _chosen(self) -> set[str] | None:
        if self.usage == "all":
            return None
        wanted = str(("train", "valid", "test").index(self.usage))
        with open(self._partition, encoding="utf-8") as stream:
            fields = [line.split() for line in stream]
        return {each[0] for each in fields if len(each) == 2 and each[1] == wanted}

    def _listed(self) -> list[tuple[str, list[int]]]:
        if self._entries is None:
            path = os.path.join(self.dataset_dir, "list_attr_celeba.txt")
            try:
                with open(path, encoding="utf-8") as stream:
                    lines = [line.split() for line in stream if line.strip()]
                count, names = int(lines[0][0]), lines[1]
                rows = [(line[0], [int(int(value) > 0) for value in line[1:]]) for line in lines[2:]]
            except (OSError, ValueError, IndexError) as error:
                raise RuntimeError(f"CelebADataset: {path} cannot be read: {error}") from error
            if len(rows) != count or any(len(values) != len(names) for _, values in rows):
                raise RuntimeError(f"CelebADataset: {path} does not list {count} images with {len(names)} attributes")
            chosen, endings = self._chosen(), self.extensions
            self._entries = [
                (name, values)
                for name, values in rows
                if (chosen is None or name in chosen) and (endings is None or name.endswith(endings))
            ]
            if not self._entries:
                raise RuntimeError(f"CelebADataset: there are no images in {self.dataset_dir}")
        return self._entries

    def columns(self) -> list[str]:
        return ["image", "attr"]

    def total(self) -> int:
        return len(self._listed())

    def row_at(self, place: int) -> Row:
        name, values = self._listed()[place]
        path = os.path.join(self.dataset_dir, name)
        content = read_bytes(path) if self.decrypt is None else np.frombuffer(self.decrypt(path), np.uint8)
        return (decoded(content, path) if self.decode else content), np.asarray(values, np.uint32)


class ManifestDataset(MappableDataset, VisionBaseDataset):
    """Images that a manifest lists, with the numbers of their labels: columns image and label (int32).

    Args:
        dataset_file: the manifest: a JSON text a line, with ``source``, ``usage`` and ``annotation``.
        usage: ``"train"``, ``"eval"`` or ``"inference"``.
        num_samples: how many rows at most.
        num_parallel_workers: how many images may be in work at once.
        shuffle: whether in random order, which it is if not said.
        sampler: chooses rows.
        class_indexing: the number of each label by its name; in the order of the names, if not given. Other labels,
            and images without any, are left out.
        decode: whether the images are decoded.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.

    Raises:
        ValueError: there is no such file.
        RuntimeError: the manifest is damaged, or lists no image for this usage.
    """

    def __init__(
        self,
        dataset_file: str,
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        sampler: Any = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        if not os.path.isfile(dataset_file):
            raise ValueError(f"The file {os.path.abspath(dataset_file)} does not exist or permission denied!")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        if class_indexing is not None and not isinstance(class_indexing, dict):
            raise TypeError(f"class_indexing must be a dict, not {type(class_indexing).__name__}")
        self.dataset_file = dataset_file
        self.usage = usage
        self.class_indexing = class_indexing
        self.decode = decode
        self._entries: list[tuple[str, list[int]]] | None = None
        self._classes: dict[str, int] = {}

    def _read(self) -> list[tuple[str, list[str]]]:
        found = []
        with open(self.dataset_file, encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                try:
                    said = json.loads(line)
                    if str(said.get("usage", "")).lower() == self.usage:
                        names = [str(each["name"]) for each in said.get("annotation", [])]
                        found.append((str(said["source"]), names))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise RuntimeError(
                        f"ManifestDataset: {self.dataset_file}, line {number} cannot be read: {error}"
                    ) from error
        return found

    def _listed(self) -> list[tuple[str, list[int]]]:
        if self._entries is None:
            rows = self._read()
            names = sorted({name for _, labels in rows for name in labels})
            given = self.class_indexing
            classes = {name: number for number, name in enumerate(names)} if given is None else dict(given)
            entries = []
            for source, labels in rows:
                numbers = [classes[name] for name in labels if name in classes]
                if numbers:
                    entries.append((source, numbers))
            if not entries:
                raise RuntimeError(f"ManifestDataset: {self.dataset_file} lists no images for the usage {self.usage!r}")
            self._entries, self._classes = entries, classes
        return self._entries

    def columns(self) -> list[str]:
        return ["image", "label"]

    def total(self) -> int:
        return len(self._listed())

    def row_at(self, place: int) -> Row:
        path, numbers = self._listed()[place]
        content = read_bytes(path)
        label = np.asarray(numbers if len(numbers) > 1 else numbers[0], np.int32)
        return (decoded(content, path) if self.decode else content), label

    def num_classes(self) -> int | None:
        self._listed()
        return len(self._classes)

    def get_class_indexing(self) -> dict[str, Any]:
        self._listed()
        return dict(self._classes)
