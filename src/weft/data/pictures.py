"""Sources of images in folders, and of those that lists tell about: Caltech, Cityscapes, Food101, LFW, LSUN..."""

from __future__ import annotations

import json
import os
from typing import Any, ClassVar, Final

import numpy as np

from weft.data.declared import (
    PARTS,
    PARTS_OF_FOUR,
    SAMPLED,
    UNCACHED,
    Choice,
    Given,
    Images,
    Matlab,
    Picture,
    matlab,
    number,
)
from weft.data.files import one_of

_ENDINGS: Final = (".jpg", ".jpeg", ".png", ".bmp")


class _Folders(Images):
    """Images in folders, whose number is the label."""

    names = ("image", "label")
    class_part = 1
    kind: ClassVar[Any] = np.uint32
    endings: ClassVar[tuple[str, ...]] = _ENDINGS

    def folders(self) -> list[tuple[str, int]]:
        """The folders, with their labels."""
        raise NotImplementedError

    def entries(self) -> list[tuple[Any, ...]]:
        return [
            (Picture(self.path(folder, name)), number(label, self.kind))
            for folder, label in self.folders()
            for name in self.listed(folder, ending=self.endings)
        ]


class Caltech256Dataset(_Folders):
    """Caltech 256: columns image and label (int32)."""

    kind = np.int32

    def folders(self) -> list[tuple[str, int]]:
        return [(name, place) for place, name in enumerate(self.listed(folders=True))]


_ROOMS: Final = (
    *("bedroom", "bridge", "church_outdoor", "classroom", "conference_room"),
    *("dining_room", "kitchen", "living_room", "restaurant", "tower"),
)


class LSUNDataset(_Folders):
    """LSUN: scenes, columns image and label (uint32)."""

    own = {"usage": PARTS_OF_FOUR, "classes": Given("a list of the classes that are read; all, if not given.", None)}
    usage: str
    classes: Any

    def checked(self) -> None:
        if self.classes is not None:
            if not isinstance(self.classes, list):
                raise TypeError(
                    f"Argument classes with value {self.classes} is not of type [{list}], but got {type(self.classes)}."
                )
            for each in self.classes:
                one_of("classes", each, _ROOMS)

    def folders(self) -> list[tuple[str, int]]:
        if self.usage == "test":
            return [("test", 0)]
        parts = {"train": ("train",), "valid": ("val",), "all": ("train", "val")}[self.usage]
        rooms = _ROOMS if self.classes is None else self.classes
        names = [f"{room}_{part}" for room in rooms for part in parts]
        if self.classes is None:
            names = [name for name in names if os.path.isdir(self.path(name))]
        return [(name, place) for place, name in enumerate(names)]


class OmniglotDataset(_Folders):
    """Omniglot: characters of many alphabets, columns image and label (int32)."""

    own = {"background": Given("whether the characters for training are read; True, if not given.", None)}
    kind = np.int32
    background: Any

    def checked(self) -> None:
        if self.background is not None and not isinstance(self.background, bool):
            raise TypeError(
                f"Argument background with value {self.background} is not of type [{bool}], but got "
                f"{type(self.background)}."
            )

    def folders(self) -> list[tuple[str, int]]:
        folder = "images_evaluation" if self.background is False else "images_background"
        names = [
            os.path.join(folder, alphabet, character)
            for alphabet in self.listed(folder, folders=True)
            for character in self.listed(folder, alphabet, folders=True)
        ]
        return [(name, place) for place, name in enumerate(names)]


class RenderedSST2Dataset(_Folders):
    """Rendered SST-2: images of sentences, columns image and label (uint32, 1 for positive)."""

    own = {"usage": Choice(("val", "all", "train", "test"), None, "all")}
    endings = (".png",)
    usage: str

    def folders(self) -> list[tuple[str, int]]:
        parts = {"test": "test", "train": "train", "val": "valid"}
        chosen = [folder for part, folder in parts.items() if self.usage in (part, "all")]
        if not any(os.path.isdir(self.path(folder)) for folder in chosen):
            raise self.failed(f"there is nothing to read in {self.dataset_dir}")
        kinds = ("negative", "positive")
        return [(os.path.join(folder, kind), label) for folder in chosen for label, kind in enumerate(kinds)]


class SUN397Dataset(_Folders):
    """SUN397: scenes, columns image and label (uint32), as `ClassName.txt` numbers them."""

    def folders(self) -> list[tuple[str, int]]:
        return [(line.strip().strip("/"), place) for place, line in enumerate(self.lines("ClassName.txt"))]


class Caltech101Dataset(Images):
    """Caltech 101: images, with their classes (int64) and outlines."""

    own = {"target_type": Choice(("category", "annotation", "all"), None, "category")}
    shared = UNCACHED
    target_type: str
    #: folders of outlines that are not called like those of images
    others: ClassVar[dict[str, str]] = {
        "Faces": "Faces_2", "Faces_easy": "Faces_3", "Motorbikes": "Motorbikes_16", "airplanes": "Airplanes_Side_2",
    }  # fmt: skip

    def columns(self) -> list[str]:
        chosen = [name for name in ("category", "annotation") if self.target_type in (name, "all")]
        return ["image", *chosen]

    def entries(self) -> list[tuple[Any, ...]]:
        root = "101_ObjectCategories"
        if not os.path.isdir(self.path(root)):
            raise FileNotFoundError(2, "No such file or directory", self.path(root))
        found: list[tuple[Any, ...]] = []
        classes = [name for name in self.listed(root, folders=True) if name != "BACKGROUND_Google"]
        for label, name in enumerate(classes):
            for image in self.listed(root, name, ending=_ENDINGS):
                place = image.rpartition(".")[0].rpartition("_")[2]
                outline = self.path("Annotations", self.others.get(name, name), f"annotation_{place}.mat")
                parts = {"category": number(label, np.int64), "annotation": Matlab(outline, ("obj_contour",))}
                found.append((Picture(self.path(root, name, image)), *[parts[each] for each in self.columns()[1:]]))
        return found


class CityscapesDataset(Images):
    """Cityscapes: images of streets and what is in them, columns image and task."""

    decodes = None
    own = {
        "usage": Given("``'train'``, ``'val'``, ``'all'``, ``'test'`` (fine) or ``'train_extra'`` (coarse).", "train"),
        "quality_mode": Choice(("fine", "coarse"), "fine"),
        "task": Choice(("instance", "semantic", "polygon", "color"), "instance"),
    }
    names = ("image", "task")
    usage: str
    quality_mode: str
    task: str

    def checked(self) -> None:
        fine = self.quality_mode == "fine"
        one_of("usage", self.usage, ("train", "test", "val", "all") if fine else ("train", "train_extra", "val", "all"))

    def entries(self) -> list[tuple[Any, ...]]:
        kind, others = ("gtFine", "test") if self.quality_mode == "fine" else ("gtCoarse", "train_extra")
        parts = ("train", others, "val")
        name = {"instance": "instanceIds.png", "semantic": "labelIds.png", "polygon": "polygons.json"}
        ending = name.get(self.task, "color.png")
        found: list[tuple[Any, ...]] = []
        for part in parts if self.usage == "all" else (self.usage,):
            for city in self.listed("leftImg8bit", part, folders=True):
                for image in self.listed("leftImg8bit", part, city, ending="_leftimg8bit.png"):
                    begin = image[: -len("leftImg8bit.png")]
                    other = self.found(kind, part, city, f"{begin}{kind}_{ending}")
                    picture = Picture(self.path("leftImg8bit", part, city, image))
                    found.append((picture, self._compact(other) if self.task == "polygon" else Picture(other)))
        return found

    def _compact(self, path: str) -> str:
        try:
            with open(path, encoding="utf-8") as stream:
                return json.dumps(json.load(stream), separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        except ValueError as error:
            raise self.failed(f"{path} cannot be read: {error}") from error


class DIV2KDataset(Images):
    """DIV2K: images and smaller forms of them, columns hr_image and lr_image."""

    decodes = None
    own = {
        "usage": Choice(("train", "valid", "all"), "train"),
        "downgrade": Choice(("bicubic", "unknown", "mild", "difficult", "wild"), "bicubic"),
        "scale": Choice((2, 3, 4, 8), 2),
    }
    names = ("hr_image", "lr_image")
    usage: str
    downgrade: str
    scale: int

    def checked(self) -> None:
        allowed = {"bicubic": (2, 3, 4, 8), "unknown": (2, 3, 4)}.get(self.downgrade, (4,))
        if self.scale not in allowed:
            raise ValueError(f"DIV2KDataset: {self.downgrade} has the scales {allowed}, but got {self.scale}.")

    def entries(self) -> list[tuple[Any, ...]]:
        ending = {"mild": "m", "difficult": "d", "wild": "w"}.get(self.downgrade, "")
        found: list[tuple[Any, ...]] = []
        for part in ("train", "valid") if self.usage == "all" else (self.usage,):
            if self.scale == 8:
                folder = f"DIV2K_{part}_LR_x8"
            elif ending:
                folder = f"DIV2K_{part}_LR_{self.downgrade}"
            else:
                folder = os.path.join(f"DIV2K_{part}_LR_{self.downgrade}", f"X{self.scale}")
            large = f"DIV2K_{part}_HR"
            for image in self.listed(large, ending=".png"):
                small = self.found(folder, f"{image[:-4]}x{self.scale}{ending}.png")
                found.append((Picture(self.path(large, image)), Picture(small)))
        return found


class FlickrDataset(Images):
    """Flickr8k and Flickr30k: columns image and annotation (five texts)."""

    decodes = None
    own = {"annotation_file": Given("the list of the texts.")}
    names = ("image", "annotation")
    annotation_file: str

    def checked(self) -> None:
        if not os.path.isfile(self.annotation_file):
            raise ValueError(f"The file {self.annotation_file} does not exist or permission denied!")

    def entries(self) -> list[tuple[Any, ...]]:
        said: dict[str, list[str]] = {}
        with open(self.annotation_file, encoding="utf-8") as stream:
            for line in filter(str.strip, stream):
                where, _, text = line.rstrip("\r\n").partition("\t")
                name, mark, _ = where.rpartition("#")
                if not mark:
                    raise self.failed(f"{self.annotation_file} has a line that cannot be read: {line.strip()}")
                said.setdefault(name, []).append(text)
        return [(Picture(self.found(name)), np.asarray(texts, np.str_)) for name, texts in sorted(said.items())]


class Food101Dataset(Images):
    """Food 101: columns image and label (the name of the dish)."""

    own = {"usage": PARTS}
    names = ("image", "label")
    usage: str

    def entries(self) -> list[tuple[Any, ...]]:
        parts = ("train", "test") if self.usage == "all" else (self.usage,)
        lines = [line.strip() for part in parts for line in self.lines("meta", f"{part}.txt")]
        return [(Picture(self.path("images", f"{line}.jpg")), line.partition("/")[0]) for line in lines]


class KITTIDataset(Images):
    """KITTI: streets and what is in them: image, label, truncated, occluded, alpha, bbox, and where things are."""

    own = {"usage": Choice(("train", "test"), None, "train")}
    usage: str
    #: columns after the label: name, type, first and last number
    parts: ClassVar[tuple[tuple[str, Any, int, int], ...]] = (
        ("truncated", np.float32, 0, 1), ("occluded", np.uint32, 1, 2), ("alpha", np.float32, 2, 3),
        ("bbox", np.float32, 3, 7), ("dimensions", np.float32, 7, 10), ("location", np.float32, 10, 13),
        ("rotation_y", np.float32, 13, 14),
    )  # fmt: skip

    def columns(self) -> list[str]:
        return ["image"] if self.usage == "test" else ["image", "label", *[part[0] for part in self.parts]]

    def entries(self) -> list[tuple[Any, ...]]:
        folder = os.path.join("data_object_image_2", "training" if self.usage == "train" else "testing", "image_2")
        images = self.listed(folder, ending=_ENDINGS)
        if self.usage == "test":
            return [(Picture(self.path(folder, name)),) for name in images]
        said = []
        for name in images:
            stem = os.path.splitext(name)[0]
            said.append(
                [line.split() for line in self.lines("data_object_label_2", "training", "label_2", f"{stem}.txt")]
            )
        classes = {name: place for place, name in enumerate(sorted({each[0] for objects in said for each in objects}))}
        return [
            (Picture(self.path(folder, name)), *self._arrays(objects, classes))
            for name, objects in zip(images, said, strict=True)
        ]

    def _arrays(self, objects: list[list[str]], classes: dict[str, int]) -> list[np.ndarray[Any, Any]]:
        try:
            values = np.array([[float(value) for value in each[1:15]] for each in objects]).reshape(-1, 14)
        except ValueError as error:
            raise self.failed(f"a list of objects cannot be read: {error}") from error
        labels = number([[classes[each[0]]] for each in objects])
        # numbers below zero are those that unsigned integers have in their place
        whole = values.astype(np.int64)
        cast = [(whole if kind is np.uint32 else values)[:, low:high].astype(kind) for _, kind, low, high in self.parts]
        return [labels, *cast]


class LFWDataset(Images):
    """LFW: faces: image and label of people, or image1, image2 and label of pairs (1 for the same person)."""

    own = {
        "task": Choice(("people", "pairs"), None, "people"),
        "usage": Choice(("10fold", "train", "test", "all"), None, "all"),
        "image_set": Choice(("original", "funneled", "deepfunneled"), None, "funneled"),
    }
    task: str
    usage: str
    image_set: str

    def columns(self) -> list[str]:
        return ["image", "label"] if self.task == "people" else ["image1", "image2", "label"]

    def _face(self, name: str, place: str) -> Picture:
        folder = {"original": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled"}[self.image_set]
        return Picture(self.path(folder, name, f"{name}_{int(place):04}.jpg"))

    def entries(self) -> list[tuple[Any, ...]]:
        names = {"10fold": "", "train": "DevTrain", "test": "DevTest"}
        parts = ("train", "test") if self.usage == "all" else (self.usage,)
        rows = [line.split("\t") for part in parts for line in self.lines(f"{self.task}{names[part]}.txt")]
        found: list[tuple[Any, ...]] = []
        if self.task == "pairs":
            for row in rows:
                if len(row) == 3:
                    found.append((self._face(row[0], row[1]), self._face(row[0], row[2]), number(1)))
                elif len(row) == 4:
                    found.append((self._face(row[0], row[1]), self._face(row[2], row[3]), number(0)))
            return found
        people = [(row[0], int(row[1])) for row in rows if len(row) == 2]
        listed = [line.split("\t")[0] for line in self.lines("lfw-names.txt")]
        labels = {name: place for place, name in enumerate(listed)}
        try:
            return [
                (self._face(name, str(place)), number(labels[name]))
                for name, count in people
                for place in range(1, count + 1)
            ]
        except KeyError as error:
            raise self.failed(f"lfw-names.txt does not list {error}") from error


class Places365Dataset(Images):
    """Places 365: scenes, columns image and label (uint32)."""

    own = {
        "usage": Choice(("train-standard", "train-challenge", "val"), None, "train-standard"),
        "small": Given("whether images of 256 x 256 are read, or large ones.", True),
    }
    shared = f"decode {SAMPLED}"
    names = ("image", "label")
    class_part = 1
    usage: str
    small: bool

    def entries(self) -> list[tuple[Any, ...]]:
        size = "256" if self.small else "large"
        kind = self.usage.removeprefix("train-")
        self.lines("categories_places365.txt")
        folder, listed = (
            (f"val_{size}", "places365_val.txt")
            if kind == "val"
            else (f"data_{size}_{kind}", f"places365_train_{kind}.txt")
        )
        found: list[tuple[Any, ...]] = []
        for line in self.lines(listed):
            name, _, label = line.strip().rpartition(" ")
            if not label.isdigit():
                raise self.failed(f"{listed} has a line that cannot be read: {line}")
            found.append((Picture(self.path(folder, name.strip("/"))), number(int(label))))
        return found


class SBUDataset(Images):
    """SBU: photos, columns image and caption; those whose files are missing are left out."""

    names = ("image", "caption")

    def checked(self) -> None:
        for kind in ("urls", "captions"):
            path = self.path(f"SBU_captioned_photo_dataset_{kind}.txt")
            if not os.path.isfile(path):
                raise ValueError(f"The file {path} does not exist or permission denied!")

    def entries(self) -> list[tuple[Any, ...]]:
        urls = self.lines("SBU_captioned_photo_dataset_urls.txt")
        captions = self.lines("SBU_captioned_photo_dataset_captions.txt")
        if len(urls) != len(captions):
            raise self.failed(f"there are {len(urls)} addresses and {len(captions)} captions")
        # files are called like the end of their address
        paths = [self.path("sbu_images", url.strip()[23:].replace("/", "_")) for url in urls]
        pairs = zip(paths, captions, strict=True)
        return [(Picture(path), caption.strip()) for path, caption in pairs if os.path.isfile(path)]


class WIDERFaceDataset(Images):
    """WIDER Face: image, bbox, and numbers of each face: blur, expression, illumination, occlusion, pose, invalid."""

    own = {"usage": PARTS_OF_FOUR}
    usage: str

    def columns(self) -> list[str]:
        facts = ("bbox", "blur", "expression", "illumination", "occlusion", "pose", "invalid")
        return ["image"] if self.usage == "test" else ["image", *facts]

    def entries(self) -> list[tuple[Any, ...]]:
        if self.usage == "test":
            names = self.lines("wider_face_split", "wider_face_test_filelist.txt")
            return [(Picture(self.path("WIDER_test", "images", name.strip())),) for name in names]
        parts = {"train": ("train",), "valid": ("val",), "all": ("train", "val")}[self.usage]
        return [entry for part in parts for entry in self._part(part)]

    def _part(self, part: str) -> list[tuple[Any, ...]]:
        lines = iter(self.lines("wider_face_split", f"wider_face_{part}_bbx_gt.txt"))
        found: list[tuple[Any, ...]] = []
        try:
            for name in lines:
                # an image without faces has one line of zeros all the same
                faces = [[int(value) for value in next(lines).split()] for _ in range(max(int(next(lines)), 1))]
                values = np.array(faces, np.int32).reshape(-1, 10)
                facts = [values[:, place] for place in range(4, 10)]
                found.append((Picture(self.path(f"WIDER_{part}", "images", name.strip())), values[:, :4], *facts))
        except (ValueError, StopIteration, RuntimeError) as error:
            raise self.failed(f"wider_face_{part}_bbx_gt.txt cannot be read: {error}") from error
        return found


class Flowers102Dataset(Images):
    """Flowers 102: columns image and label (uint32), and the segmentation where it is asked for."""

    own = {
        "task": Choice(("Classification", "Segmentation"), "Classification"),
        "usage": Choice(("train", "valid", "test", "all"), "all"),
    }
    shared = UNCACHED
    task: str
    usage: str

    def columns(self) -> list[str]:
        return ["image", "label"] if self.task == "Classification" else ["image", "segmentation", "label"]

    def checked(self) -> None:
        for name in ("jpg", *(["segmim"] if self.task == "Segmentation" else [])):
            if not os.path.isdir(self.path(name)):
                raise ValueError(
                    f"The folder {self.path(name)} does not exist or is not a directory or permission denied!"
                )

    def entries(self) -> list[tuple[Any, ...]]:
        labels = matlab(self.path("imagelabels.mat"), "labels").ravel()
        parts = {"train": "trnid", "test": "tstid", "valid": "valid"}
        found: list[tuple[Any, ...]] = []
        for part, name in parts.items():
            if self.usage in (part, "all"):
                for place in matlab(self.path("setid.mat"), name).ravel().tolist():
                    image = Picture(self.path("jpg", f"image_{place:05}.jpg"))
                    other = Picture(self.path("segmim", f"segmim_{place:05}.jpg"))
                    between = [other] if self.task == "Segmentation" else []
                    found.append((image, *between, number(int(labels[place - 1]) - 1)))
        return found


class SBDataset(Images):
    """Semantic boundaries: columns image and task: 20 boundaries, or a segmentation."""

    decodes = None
    own = {
        "task": Choice(("Boundaries", "Segmentation"), "Boundaries"),
        "usage": Choice(("train", "val", "train_noval", "all"), "all"),
    }
    shared = UNCACHED
    names = ("image", "task")
    task: str
    usage: str

    def entries(self) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for part in ("train", "val") if self.usage == "all" else (self.usage,):
            if not os.path.isfile(self.path(f"{part}.txt")):
                raise FileNotFoundError(f"SBDataset: {self.path(f'{part}.txt')} not found")
            for line in self.lines(f"{part}.txt"):
                outline = Matlab(self.path("cls", f"{line.strip()}.mat"), ("GTcls", self.task))
                found.append((Picture(self.path("img", f"{line.strip()}.jpg")), outline))
        return found
