"""Checkpoints of networks that are spread over devices and processes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.context import get_auto_parallel_context
from weft.core.tensor import Parameter, Tensor, data_of
from weft.core.transparency import python_only
from weft.errors import CheckpointError
from weft.nn.cell import Cell
from weft.parallel.processes import processes
from weft.train import folders, strategies
from weft.train.loading import chooser, from_folders, load_param_into_net
from weft.train.serialization import collected, wait_for_checkpoints, write_later
from weft.train.sliced import Sliced
from weft.train.strategies import SliceLayout, Strategy
from weft.train.transforming import REST, UNIFIED, strategy_of, write_rank


@python_only
def save_distributed_checkpoint(
    save_obj: Any,
    folder: Any,
    append_dict: dict[str, Any] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    async_save: bool = False,
) -> None:
    """Write a network that is spread over devices and processes to a folder; an interrupted write leaves the old one.

    All processes call it, with the parameters that they have: slices of the same ones, the same ones, or others, as
    the stages of a pipeline do. Each writes its part, and what several have is written once. `load_checkpoint` and
    `load_distributed_checkpoint` read the folder, into networks that are spread in any way.

    Args:
        save_obj: see `save_checkpoint`.
        folder: the folder. A checkpoint in it is replaced; it should hold nothing else.
        append_dict: see `save_checkpoint`.
        choice_func: see `save_checkpoint`.
        async_save: write in a thread of its own; the values are those of the call. Several processes wait all the same.

    Raises:
        TypeError: something is no Cell, list or dict of tensors.
        ValueError: two parameters have the same name.
        CheckpointError: the folder cannot be written, or processes have different elements under one name.

    Example:
        >>> import tempfile
        >>> from weft import nn
        >>> from weft.train import load_checkpoint
        >>> folder = tempfile.mkdtemp() + "/step_10"
        >>> save_distributed_checkpoint(nn.Dense(2, 1), folder, {"step": 10})
        >>> int(load_checkpoint(folder)["step"])
        10
    """
    caller = "save_distributed_checkpoint"
    path = _folder(caller, "folder", folder)
    tensors, trained, texts = collected(caller, save_obj, append_dict, choice_func)
    arrays = {name: data_of(value if isinstance(value, Tensor) else Tensor(value)) for name, value in tensors.items()}

    def work() -> None:
        folders.write(path, arrays, trained, texts)

    if async_save and processes().count == 1:
        write_later(path, work)
    else:
        wait_for_checkpoints()
        work()


def _folder(caller: str, what: str, value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{caller}: {what} must be a str, not {type(value).__name__}")
    path = Path(value)
    if path.exists() and not path.is_dir():
        raise CheckpointError(f"{caller}: {path} is no folder")
    return path


@python_only
def load_distributed_checkpoint(
    network: Cell | None,
    checkpoint_filenames: Any = None,
    predict_strategy: Any = None,
    train_strategy_filename: str | None = None,
    strict_load: bool = False,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    format: str = "ckpt",
    unified_safetensors_dir: str | None = None,
    dst_safetensors_dir: str | None = None,
    rank_id: int | None = None,
    output_format: str = "safetensors",
    name_map: dict[str, str] | None = None,
    max_process_num: int = 64,
    return_param_dict: bool = False,
) -> Any:
    """Load a network from the checkpoint of a network that was spread in another way.

    Args:
        network: the network; those of its parameters that are spread over devices stay so. None to write files.
        checkpoint_filenames: the files of the ranks, in their order, or folders that `save_distributed_checkpoint`
            wrote, as of the stages of a pipeline.
        predict_strategy: how the parameters of the network are cut that are slices of those in the checkpoint: a
            strategy file, or what `build_searched_strategy` gives. None where all are whole.
        train_strategy_filename: how the files are cut; None for what the settings say as ``strategy_ckpt_load_file``,
            and else for what the files say themselves.
        strict_load: see `load_param_into_net`.
        dec_key: must be None.
        dec_mode: accepted.
        format: accepted; files say themselves what they are.
        unified_safetensors_dir: instead of files, a folder that `save_distributed_checkpoint` or `unified_safetensors`
            wrote.
        dst_safetensors_dir: without `network`: the folder for ``rank_0/net.safetensors``...
        rank_id: the rank whose slices are wanted; None for this process, or for all without `network`.
        output_format: without `network`: ``"safetensors"`` or ``"ckpt"``.
        name_map: other names for parameters of the checkpoint.
        max_process_num: accepted.
        return_param_dict: return what was read.

    Returns:
        tuple: names of parameters that were not loaded, and names in the checkpoint that were not used; with
            `return_param_dict` the Parameters by name; None without `network`.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a file is missing or damaged, or does not fit its strategy or the network.

    Example:
        >>> import tempfile
        >>> from weft import nn
        >>> folder = tempfile.mkdtemp()
        >>> save_distributed_checkpoint(nn.Dense(2, 1), folder)
        >>> load_distributed_checkpoint(nn.Dense(2, 1), unified_safetensors_dir=folder)
        ([], [])
    """
    caller = "load_distributed_checkpoint"
    del dec_mode, max_process_num
    for what, one in (("format", format), ("output_format", output_format)):
        if one not in ("ckpt", "safetensors"):
            raise ValueError(f"{caller}: {what} must be 'ckpt' or 'safetensors', not {one!r}")
    if network is not None and not isinstance(network, Cell):
        raise TypeError(f"{caller}: network must be a Cell, not {type(network).__name__}")
    names = _renamed(caller, name_map)
    chosen = chooser(caller, None, None, None, dec_key)
    wait_for_checkpoints()
    target = _strategy(caller, predict_strategy)
    paths = _sources(caller, checkpoint_filenames, unified_safetensors_dir)
    if network is None:
        if dst_safetensors_dir is None:
            raise ValueError(f"{caller}: without a network dst_safetensors_dir must say where to write")
        source = _read(caller, paths, train_strategy_filename, names)
        into = _folder(caller, "dst_safetensors_dir", dst_safetensors_dir)
        cut = target or strategies.ALONE
        for rank in range(cut.devices) if rank_id is None else [rank_id]:
            write_rank(source, cut, rank, into / f"rank_{rank}" / f"net.{output_format}")
        return None
    if target is None and not name_map and all(folders.is_checkpoint(path) for path in paths):
        found = from_folders(paths, network, chosen)
    else:
        source = _read(caller, paths, train_strategy_filename, names)
        rank = processes().rank if rank_id is None else rank_id
        cut = target or strategies.ALONE
        arrays = source.of_rank(cut, rank if target is not None else 0)
        for param in network.get_parameters():  # a network that is spread has whole parameters, too
            if param.name in source.wholes and param.shape == source.wholes[param.name].shape:
                arrays[param.name] = source.read(param.name)
        found = {
            name: Parameter(Tensor(array), name=name, requires_grad=name in source.trained)
            for name, array in arrays.items()
        }
    result = load_param_into_net(network, found, strict_load)
    return found if return_param_dict else result


def _strategy(caller: str, given: Any) -> Strategy | None:
    if isinstance(given, dict):
        layouts: dict[str, SliceLayout] = {}
        for name, layout in given.items():
            # MindSpore's `infer_predict_layout` gives lists: the grid, the axes, shapes, and the pieces of optimizers
            if isinstance(layout, (list, tuple)) and len(layout) >= 2:
                pieces = layout[4:6] if len(layout) >= 6 else ()
                layout = SliceLayout(layout[0], layout[1], *pieces)
            if not isinstance(layout, SliceLayout):
                raise TypeError(f"{caller}: predict_strategy does not say how {name!r} is cut")
            layouts[name] = layout
        return Strategy({0: layouts})
    return None if given is None else strategy_of(caller, given)


def _sources(caller: str, given: Any, unified: Any) -> list[Path]:
    """The files and folders to read."""
    if unified is not None:
        folder = _folder(caller, "unified_safetensors_dir", unified)
        if folders.is_checkpoint(folder):
            return [folder]
        listed = folder / UNIFIED
        try:
            parts = json.loads(listed.read_bytes())["weight_map"].values()
            inside = sorted({part for part in parts if Path(part).name == part and part})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise CheckpointError(f"{caller}: {folder} holds neither {folders.INDEX} nor {UNIFIED}") from None
        rest = [REST] if (folder / REST).is_file() and REST not in inside else []
        return [folder / part for part in [*inside, *rest]]
    if not isinstance(given, (list, tuple)) or not given:
        raise TypeError(f"{caller}: checkpoint_filenames must be a list of names of files")
    for one in given:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"{caller}: each of checkpoint_filenames must be a str, not {type(one).__name__}")
        if not Path(one).exists():
            raise CheckpointError(f"{caller}: there is no checkpoint {one}")
    return [Path(one) for one in given]


def _read(caller: str, paths: list[Path], strategy_file: Any, names: Callable[[str], str]) -> Sliced:
    """Files of ranks, or folders, as one."""
    file = strategy_file or get_auto_parallel_context("strategy_ckpt_load_file") or None
    strategy = None if file is None else strategy_of(caller, file)
    if any(folders.is_checkpoint(path) for path in paths):
        return Sliced.of_folders([folders.Folder(path) for path in paths], names)
    if strategy is not None and len(paths) != strategy.devices:
        raise CheckpointError(f"{caller}: the strategy is for {strategy.devices} ranks; there are {len(paths)} files")
    return Sliced(dict(enumerate(paths)), strategy, names)


def _renamed(caller: str, name_map: Any) -> Callable[[str], str]:
    if name_map is None:
        return lambda name: name
    if not isinstance(name_map, dict):
        raise TypeError(f"{caller}: name_map must be a dict, not {type(name_map).__name__}")
    return lambda name: name_map.get(name, name)
