"""Summaries as files of TensorBoard: `SummaryRecord`, and the callback `SummaryCollector`."""

from __future__ import annotations

import itertools
import os
import re
import time
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.core.tensor import Tensor
from weft.lazily import deferred
from weft.ops.summary import collect_summaries
from weft.train.callback import Callback, RunContext, loss_of

files: Any = deferred("tensorboardX.event_file_writer")
_summaries: Any = deferred("tensorboardX.summary")
_events: Any = deferred("tensorboardX.proto.event_pb2")
_protocol: Any = deferred("tensorboardX.proto.summary_pb2")
_tensors: Any = deferred("tensorboardX.proto.tensor_pb2")

Array = np.ndarray[Any, Any]

#: what a value that is added may be, and what MindSpore's own viewer knows besides
_SHOWN: Final = ("tensor", "scalar", "image", "histogram")
_PLUGINS: Final = (
    *_SHOWN,
    *("train_lineage", "eval_lineage", "dataset_graph", "custom_lineage_data", "graph", "landscape"),
)
#: intervals of a histogram
_BINS: Final = 50
#: files of one second have names of their own
_NUMBERS: Final = itertools.count()
#: element types as TensorBoard numbers them
_TENSOR_TYPES: Final = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "int64": 9,
    "bool": 10,
}


def _checked(value: Any, kinds: tuple[type, ...], name: str) -> None:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        names = [kind.__name__ for kind in kinds]
        raise TypeError(f"For `{name}` the type should be a valid type of {names}, but got {type(value).__name__}.")


class SummaryRecord:
    """Writes what a program notes by name, for TensorBoard: ``tensorboard --logdir ...``.

    What the operators `ScalarSummary`, `TensorSummary`, `ImageSummary` and `HistogramSummary` noted is written by the
    next `record`. Needs tensorboardX: ``pip install "weft[summary]"``.

    Args:
        log_dir: the folder of the files.
        file_prefix: start of the file's name; TensorBoard's own name follows.
        file_suffix: end of the file's name.
        num_process: kept.
        network: kept.
        max_file_size: no more is written to a file that has so many bytes; None for no limit.
        raise_exception: whether a file that cannot be written is an error; else a warning.
        export_options: ``{"tensor_format": "npy"}`` writes tensors as files of NumPy, too.

    Raises:
        TypeError: an argument is not that.
        ValueError: `log_dir` is empty, or `export_options` has another key.
        ImportError: tensorboardX is missing.

    Example:
        >>> import tempfile
        >>> from weft import ops
        >>> with SummaryRecord(tempfile.mkdtemp()) as record:  # doctest: +SKIP
        ...     ops.ScalarSummary()("loss", Tensor(0.5))
        ...     record.record(1)
        True
    """

    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Any = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(log_dir, str):
            raise TypeError("The log_dir is invalid, the type should be string.")
        if not log_dir.strip():
            raise ValueError("The log_dir is invalid, it should be non-blank.")
        for text in (file_prefix, file_suffix):
            if not isinstance(text, str):
                raise TypeError(
                    f"For 'SummaryRecord', `file_prefix` and `file_suffix` should be str, but got type {type(text)}"
                )
        if max_file_size is not None:
            _checked(max_file_size, (int,), "max_file_size")
        _checked(raise_exception, (bool,), "raise_exception")
        _checked(export_options, (dict, type(None)), "export_options")
        unknown = set(export_options or {}) - {"tensor_format"}
        if unknown:
            raise ValueError(
                f'For "SummaryRecord", the keys {unknown} of "export_options" are unsupported, expect the follow keys: '
                "['tensor_format']"
            )
        if (export_options or {}).get("tensor_format") not in (None, "npy"):
            raise ValueError('For "SummaryRecord", the tensor_format of "export_options" is "npy" or None.')
        try:
            make = files.EventsWriter
        except ImportError as missing:
            raise ImportError(
                'summaries need tensorboardX: pip install "weft[summary]"', name="tensorboardX"
            ) from missing
        self.base_log_dir = os.path.realpath(log_dir)
        self.file_prefix = file_prefix
        self.file_suffix = file_suffix
        self.network = network
        self.max_file_size = max_file_size
        self.raise_exception = raise_exception
        self._exports = (export_options or {}).get("tensor_format") == "npy"
        self._mode = "train"
        self._added: list[tuple[str, str, Array]] = []
        self._full = False
        os.makedirs(self.base_log_dir, exist_ok=True)
        self._writer: Any = make(
            os.path.join(self.base_log_dir, file_prefix), f".{os.getpid()}.{next(_NUMBERS)}{file_suffix}"
        )
        #: the path of the file
        self.log_dir = str(self._writer._file_name)
        # what was noted before belongs to no record
        collect_summaries()

    def __enter__(self) -> SummaryRecord:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def set_mode(self, mode: str) -> None:
        """Say what is going on.

        Args:
            mode: ``"train"``, or ``"eval"``, in which names begin with ``eval/``.

        Raises:
            ValueError: it is neither.
        """
        if mode not in ("train", "eval"):
            raise ValueError(
                f'For "SummaryRecord.set_mode", {mode!r} is not a recognized mode, expect the parameter "mode" is '
                '"train" or "eval"'
            )
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Add a value to what the next `record` writes.

        Args:
            plugin: ``"scalar"``, ``"tensor"``, ``"image"`` or ``"histogram"``; others are kept from MindSpore and
                write nothing.
            name: what it is called.
            value: Tensor of one element, of any shape but none, of shape ``(N, C, H, W)``, of any shape but none.

        Raises:
            TypeError: `value` is no Tensor.
            ValueError: there is no such plugin, `name` is no text or empty, or `value` has not that shape.
        """
        if plugin not in _PLUGINS:
            raise ValueError(
                f'For "SummaryRecord.add_value", no such "plugin" of {plugin!r} , expect value is one of '
                f"[{', '.join(_PLUGINS)}]"
            )
        if not isinstance(name, str) or not name:
            raise ValueError(f'For "SummaryRecord", the parameter "name" type should be str, but got {type(name)}.')
        if plugin not in _SHOWN:
            return
        if not isinstance(value, Tensor):
            raise TypeError(
                f'For "SummaryRecord", the parameter "value" expect to be Tensor, but got {type(value).__name__}'
            )
        if plugin == "scalar" and (value.ndim > 1 or value.size != 1):
            raise ValueError(
                f'For "SummaryRecord", the v rank must be less than or equal to 1, but got {value.ndim}.'
                if value.ndim > 1
                else f'For "SummaryRecord", a scalar must have one element, not {value.size}.'
            )
        if plugin == "image" and (value.ndim != 4 or value.shape[1] not in (1, 3)):
            raise ValueError('For "SummaryRecord", the tensor seems not to hold a valid image.')
        if plugin in ("tensor", "histogram") and not value.ndim:
            raise ValueError('For "SummaryRecord", the value should not be empty.')
        self._added.append((plugin, name, np.array(value.asnumpy())))

    def record(self, step: int, train_network: Any = None, plugin_filter: Callable[[str], bool] | None = None) -> bool:
        """Write what was noted since the last call, and what was added.

        Args:
            step: the number of the step.
            train_network: kept.
            plugin_filter: called with a plugin's name, says whether its values are written.

        Returns:
            bool: whether they were written; not in a file that has reached its largest size.

        Raises:
            TypeError: `step` is no int.
            OSError: the file cannot be written, and `raise_exception` is True.
        """
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(f"The type of 'step' should be 'int', but got type '{type(step).__name__}'.")
        noted = [(kind, name, np.asarray(value.asnumpy())) for kind, name, value in collect_summaries()]
        values, self._added = [*noted, *self._added], []
        if self._reached_size():
            return False
        try:
            for kind, name, array in values:
                if plugin_filter is None or plugin_filter(kind):
                    self._write(kind, f"eval/{name}" if self._mode == "eval" else name, array, step)
        except OSError as error:
            if self.raise_exception:
                raise
            warnings.warn(f"summaries of step {step} are not written: {error}", stacklevel=2)
            return False
        return True

    def _reached_size(self) -> bool:
        if self.max_file_size is None or self.max_file_size <= 0 or self._full:
            return self._full
        self.flush()
        self._full = os.path.getsize(self.log_dir) >= self.max_file_size
        if self._full:
            warnings.warn(f"{self.log_dir} has {self.max_file_size} bytes, and nothing more is written", stacklevel=3)
        return self._full

    def _write(self, kind: str, name: str, array: Array, step: int) -> None:
        if array.dtype.name == "bfloat16":
            array = array.astype(np.float32)
        if kind == "scalar":
            summary = _summaries.scalar(name, array.reshape(-1)[0])
        elif kind == "histogram":
            finite = array[np.isfinite(array)]
            if not finite.size:
                return
            summary = _summaries.histogram(name, finite.astype(np.float64), _BINS)
        elif kind == "image":
            if array.ndim != 4 or array.shape[1] not in (1, 3):
                warnings.warn(f"{name}: images have 1 or 3 channels, and a shape is {array.shape}", stacklevel=3)
                return
            summary = _summaries.image(name, _as_image(array), dataformats="NCHW")
        else:
            summary = _tensor_summary(name, array)
            if self._exports:
                folder = os.path.join(self.base_log_dir, "export_tensor")
                os.makedirs(folder, exist_ok=True)
                np.save(os.path.join(folder, f"{re.sub(r'[^0-9a-zA-Z_.-]', '_', name)}_{step}.npy"), array)
        self._writer.write_event(_events.Event(wall_time=time.time(), step=step, summary=summary))

    def flush(self) -> None:
        """Write to the disk what is in buffers."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _as_image(array: Array) -> Array:
    """Bytes as they are; other numbers from the smallest, black, to the largest."""
    if array.dtype == np.uint8:
        return array
    values = array.astype(np.float64)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if array.dtype.kind == "f" and low >= 0.0 and high <= 1.0:
        low, high = 0.0, 1.0
    return np.asarray(np.nan_to_num((values - low) / (high - low or 1.0)) * 255, np.uint8)


def _tensor_summary(name: str, array: Array) -> Any:
    if array.dtype.name not in _TENSOR_TYPES:
        array = array.astype(np.float32)
    shape = {"dim": [{"size": size} for size in array.shape]}
    content = np.ascontiguousarray(array).tobytes()
    tensor = _tensors.TensorProto(dtype=_TENSOR_TYPES[array.dtype.name], tensor_shape=shape, tensor_content=content)
    return _protocol.Summary(value=[_protocol.Summary.Value(tag=name, tensor=tensor)])


#: what `SummaryCollector` collects, with the types that a program can give for it
_COLLECTED: Final[dict[str, tuple[type, ...]]] = {
    "collect_metric": (bool,),
    "collect_graph": (bool,),
    "collect_train_lineage": (bool,),
    "collect_eval_lineage": (bool,),
    "collect_input_data": (bool,),
    "collect_dataset_graph": (bool,),
    "histogram_regular": (str, type(None)),
    "collect_landscape": (dict, type(None)),
}
#: how many parameters' histograms are collected where the program does not say which
_HISTOGRAMS: Final = 5


class SummaryCollector(Callback):
    """Writes summaries while a `Model` trains: the loss, images of the data, histograms of parameters, what was noted.

    Args:
        summary_dir: the folder of the files.
        collect_freq: every so many steps, and in the first.
        num_process: kept.
        collect_specified_data: ``collect_metric``: the loss; ``collect_input_data``: the first images of the first
            column; ``histogram_regular``: a pattern of the names of parameters, None for the first five; the others are
            kept.
        keep_default_action: whether what `collect_specified_data` does not say is collected.
        custom_lineage_data: kept: numbers and texts by name.
        collect_tensor_freq: every so many steps tensors are written; None writes them with the others.
        max_file_size: see `SummaryRecord`.
        export_options: see `SummaryRecord`.

    Raises:
        TypeError: an argument is not that.
        ValueError: a number is not positive, or `collect_specified_data` has another key.
        ImportError: tensorboardX is missing (raised when training begins).

    Example:
        >>> SummaryCollector("summaries", collect_freq=5).collect_freq
        5
    """

    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: dict[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(summary_dir, str):
            raise TypeError("The summary_dir is invalid, the type should be string.")
        if not summary_dir.strip():
            raise ValueError("The summary_dir is invalid, it should be non-blank.")
        for name, number in (
            ("collect_freq", collect_freq),
            ("collect_tensor_freq", 1 if collect_tensor_freq is None else collect_tensor_freq),
            ("max_file_size", 1 if max_file_size is None else max_file_size),
        ):
            _checked(number, (int,), name)
            if number <= 0:
                raise ValueError(
                    f'For "SummaryCollector", the value of `{name}` should be greater than 0, but got `{number}`.'
                )
        _checked(keep_default_action, (bool,), "keep_default_action")
        _checked(collect_specified_data, (dict, type(None)), "collect_specified_data")
        _checked(custom_lineage_data, (dict, type(None)), "custom_lineage_data")
        for name, value in (custom_lineage_data or {}).items():
            _checked(value, (int, str, float), f"the value of custom_lineage_data -> {name}")
        specified = collect_specified_data or {}
        if unknown := set(specified) - set(_COLLECTED):
            raise ValueError(
                f'For "SummaryCollector", the keys {unknown} of `collect_specified_data` are unsupported, expect the '
                f"follow keys: {list(_COLLECTED)}"
            )
        for name, value in specified.items():
            _checked(value, _COLLECTED[name], name)
        self.summary_dir = summary_dir
        self.collect_freq = collect_freq
        self.collect_tensor_freq = collect_tensor_freq
        self.collected = {name: specified.get(name, keep_default_action) for name in _COLLECTED}
        # None stands for what is collected where the program does not say which
        self._pattern = specified.get("histogram_regular")
        self._histograms = keep_default_action or self._pattern is not None
        self._options = (max_file_size, export_options)
        self._record: SummaryRecord | None = None
        self._steps = 0

    def __exit__(self, *error: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._record is not None:
            self._record.close()
            self._record = None

    def on_train_begin(self, run_context: RunContext) -> None:
        """Begin a file."""
        size, options = self._options
        self._close()
        self._record = SummaryRecord(self.summary_dir, max_file_size=size, export_options=options)
        self._steps = 0

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Write the summaries of a step, when they are due."""
        facts = run_context.original_args()
        self._steps += 1
        due = self._steps == 1 or facts.cur_step_num % self.collect_freq == 0
        tensors_due = due
        if self.collect_tensor_freq is not None:
            tensors_due = self._steps == 1 or facts.cur_step_num % self.collect_tensor_freq == 0
        if self._record is None:
            return
        if not due and not tensors_due:
            collect_summaries()
            return
        if due:
            self._collect(self._record, facts)
        self._record.record(facts.cur_step_num, plugin_filter=lambda plugin: tensors_due if plugin == "tensor" else due)

    def _collect(self, record: SummaryRecord, facts: Any) -> None:
        if self.collected["collect_metric"]:
            record.add_value("scalar", "loss/auto", Tensor(np.float32(loss_of(facts.net_outputs))))
        if self.collected["collect_input_data"]:
            element = getattr(facts, "train_dataset_element", None)
            first = element[0] if isinstance(element, (tuple, list)) and element else element
            if isinstance(first, Tensor) and first.ndim == 4 and first.shape[1] in (1, 3):
                record.add_value("image", "input_data/auto", first)
        if self._histograms:
            for parameter in self._parameters(facts):
                record.add_value("histogram", f"{parameter.name}/auto", parameter)

    def _parameters(self, facts: Any) -> list[Any]:
        found = [each for each in facts.network.trainable_params() if each.ndim]
        if self._pattern is None:
            return found[:_HISTOGRAMS]
        return [each for each in found if re.match(self._pattern, each.name)]

    def on_train_end(self, run_context: RunContext) -> None:
        """Finish the file."""
        self._close()

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Evaluation writes nothing, and what it noted is not for the next step of training."""
        collect_summaries()
