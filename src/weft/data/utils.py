"""Helpers around data: lines of a file by number, and boxes drawn into an image."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

import numpy as np

from weft.data.workers import needs
from weft.lazily import deferred

cv2: Any = deferred("cv2")


class LineReader:
    """The lines of a file by number, from 1; where each begins is known from the start.

    Args:
        filename: the file.

    Raises:
        TypeError: the name is no text.
        RuntimeError: there is no such file.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        ...     _ = file.write("one\\ntwo\\n")
        ...     file.flush()
        ...     with LineReader(file.name) as reader:
        ...         reader.readline(2), reader.len()
        ('two', 2)
    """

    def __init__(self, filename: str) -> None:
        if not isinstance(filename, str):
            raise TypeError(f"path: {filename} is not string")
        path = os.path.expanduser(filename)
        if not os.path.exists(path):
            raise RuntimeError(f"The input file [{path}] does not exist.")
        if not os.path.isfile(path):
            raise RuntimeError(f"The input file [{path}] is not a regular file.")
        self.filename = path
        self._begins = []
        begin = 0
        with open(path, "rb") as stream:
            for line in stream:
                self._begins.append(begin)
                begin += len(line)
        self._stream: Any = None

    def readline(self, line: int) -> str:
        """A line, without its end.

        Args:
            line: its number, from 1.

        Raises:
            TypeError: the number is no int.
            ValueError: there is no such line.
        """
        if isinstance(line, bool) or not isinstance(line, int):
            raise TypeError(f"Argument line with value {line} is not of type [{int}], but got {type(line)}.")
        if not 1 <= line <= len(self._begins):
            raise ValueError(f"Input line is not within the required interval of [1, {len(self._begins)}].")
        if self._stream is None:
            self._stream = open(self.filename, "rb")  # noqa: SIM115 - closed by close
        self._stream.seek(self._begins[line - 1])
        return str(self._stream.readline().decode("utf-8").rstrip("\r\n"))

    def len(self) -> int:
        """The number of lines."""
        return len(self._begins)

    def close(self) -> None:
        """Close the file; the next line that is read opens it again."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __len__(self) -> int:
        return self.len()

    def __enter__(self) -> LineReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self.close()


def _is_array(value: Any, rank: int) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == rank


def imshow_det_bbox(
    image: Any,
    bboxes: Any,
    labels: Any,
    segm: Any = None,
    class_names: Any = None,
    score_threshold: float = 0,
    bbox_color: tuple[int, int, int] = (0, 255, 0),
    text_color: tuple[int, int, int] = (203, 192, 255),
    mask_color: tuple[int, int, int] = (128, 0, 128),
    thickness: int = 2,
    font_size: float = 0.8,
    show: bool = True,
    win_name: str = "win",
    wait_time: int = 2000,
    out_file: str | None = None,
) -> Any:
    """Draw boxes and the names of their classes into an image.

    Args:
        image: the image, red, green and blue, first or last.
        bboxes: for each box left, top, width and height, and perhaps a score.
        labels: the class of each, N by 1.
        segm: masks, one for each box.
        class_names: the names of the classes, by number; numbers are drawn, if not given.
        score_threshold: boxes with a lower score are left out.
        bbox_color: the colour of boxes: blue, green, red.
        text_color: that of texts.
        mask_color: that of masks.
        thickness: how thick lines are.
        font_size: how large texts are.
        show: whether the image is shown in a window.
        win_name: name of the window.
        wait_time: for how many milliseconds.
        out_file: a file that the image is written to.

    Returns:
        numpy.ndarray: the image with what was drawn, blue, green and red.

    Raises:
        ImportError: OpenCV is not installed.
        AssertionError: an argument has another type or shape.
    """
    needs("cv2", "drawn boxes")
    for wanted, said in (
        (_is_array(image, 3) and 3 in (image.shape[0], image.shape[-1]), "image should have three channels"),
        (_is_array(bboxes, 2) and bboxes.shape[1] in (4, 5), "bboxes should be of shape (N, 4) or (N, 5)"),
        (_is_array(labels, 2) and labels.shape == (len(bboxes), 1), "labels should be of shape (N, 1)"),
        (segm is None or _is_array(segm, 3), "segm should be of shape (M, H, W)"),
    ):
        assert wanted, said
    drawn = image if image.shape[-1] == 3 else image.transpose(1, 2, 0)
    drawn = np.ascontiguousarray(drawn[..., ::-1]).astype(np.uint8)
    for place, (box, label) in enumerate(zip(bboxes, labels[:, 0], strict=True)):
        score = float(box[4]) if len(box) == 5 else None
        if score is not None and score < score_threshold:
            continue
        left, top, width, height = (int(each) for each in box[:4])
        if segm is not None and place < len(segm):
            mask = segm[place].astype(bool)
            drawn[mask] = (drawn[mask] * 0.5 + np.array(mask_color) * 0.5).astype(np.uint8)
        cv2.rectangle(drawn, (left, top), (left + width, top + height), bbox_color, thickness)
        name = str(int(label)) if class_names is None else str(class_names[int(label)])
        text = name if score is None else f"{name}: {score:.2f}"
        cv2.putText(drawn, text, (left, max(top - 2, 0)), cv2.FONT_HERSHEY_SIMPLEX, font_size, text_color, thickness)
    if out_file is not None:
        cv2.imwrite(out_file, drawn)
    if show:
        cv2.imshow(win_name, drawn)
        cv2.waitKey(wait_time)
    return drawn
