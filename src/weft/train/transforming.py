"""Checkpoint files of one strategy as files of another: MindSpore's functions for it, and those for strategy files."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from jax.sharding import NamedSharding

from weft.core.tensor import Parameter, Tensor, data_of
from weft.core.transparency import python_only
from weft.errors import CheckpointError
from weft.nn.cell import Cell
from weft.parallel.slices import is_spread
from weft.train import ckpt, files, strategies
from weft.train.loading import chooser, from_file, load_param_into_net
from weft.train.serialization import save_checkpoint
from weft.train.sliced import Sliced, ranks_for
from weft.train.strategies import SliceLayout, Strategy

_FORMATS: Final = ("ckpt", "safetensors")
#: files of `unified_safetensors`: where parameters are, and what the strategy does not name
UNIFIED: Final = "param_name_map.json"
REST: Final = "hyper_param.safetensors"
_RANK_FOLDER: Final = re.compile(r"rank_(\d+)")


def strategy_of(caller: str, file: Any) -> Strategy:
    """The strategy of a file; that of one device for None.

    Args:
        caller: who asks, for messages.
        file: its name.

    Raises:
        TypeError: the name is no string.
        ValueError: there is no such file, or it holds none.
    """
    if file is None:
        return strategies.ALONE
    if not isinstance(file, (str, os.PathLike)):
        raise TypeError(f"{caller}: the name of a strategy file must be a str, not {type(file).__name__}")
    return strategies.read(Path(file), caller)


def _folder(caller: str, what: str, value: Any, must_be: bool = True) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{caller}: {what} must be a str, not {type(value).__name__}")
    path = Path(value)
    if not path.is_dir() and (must_be or path.exists()):
        raise NotADirectoryError(f"{caller}: {what} {path} is no folder")
    return path


def _rank(caller: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{caller}: rank_id must be an int, not {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{caller}: rank_id must not be negative, not {value}")
    return value


def rank_files(caller: str, folder: Path, ending: str = "", suffix: str | None = None) -> dict[int, Path]:
    """The checkpoint file of each rank in a folder: the last by name in ``rank_0``, ``rank_1``...

    Args:
        caller: who asks, for messages.
        folder: the folder.
        ending: the format; "" for both.
        suffix: only files whose names without the format end so.

    Raises:
        ValueError: there is none, or a rank has none.
    """
    endings = tuple([f".{ending}"] if ending else [f".{each}" for each in _FORMATS])
    found: dict[int, Path] = {}
    for inner in folder.iterdir():
        match = _RANK_FOLDER.fullmatch(inner.name)
        if match is None or not inner.is_dir():
            continue
        named = [file for file in inner.iterdir() if file.suffix in endings and file.is_file()]
        named = [file for file in named if suffix is None or file.stem.endswith(suffix)]
        if not named:
            raise ValueError(f"{caller}: there is no checkpoint file in {inner}")
        found[int(match[1])] = max(named)
    if not found:
        raise ValueError(f"{caller}: there are no checkpoint files {folder}/rank_0/*{endings[0]}")
    return found


def _complete(caller: str, found: Mapping[int, Path], strategy: Strategy) -> None:
    missing = [rank for rank in range(strategy.devices) if rank not in found]
    if missing:
        raise ValueError(
            f"{caller}: the strategy is for {strategy.devices} ranks; there is no file of rank {missing[0]}"
        )


def write_rank(source: Sliced, target: Strategy, rank: int, path: Path) -> None:
    """Write what a rank holds under a strategy to a file, whose ending is its format.

    Args:
        source: what there is.
        target: the strategy.
        rank: the rank.
        path: the file.
    """
    arrays = source.of_rank(target, rank)
    values = [
        Parameter(Tensor(array), name=name, requires_grad=name in source.trained) for name, array in arrays.items()
    ]
    save_checkpoint(values, path, append_dict=dict(source.texts), format=path.suffix[1:])


@python_only
def transform_checkpoints(
    src_checkpoints_dir: str,
    dst_checkpoints_dir: str,
    ckpt_prefix: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
    process_num: int = 1,
    output_format: str = "ckpt",
) -> None:
    """Write the checkpoint files of all ranks as files for another strategy.

    Args:
        src_checkpoints_dir: a folder with folders ``rank_0``, ``rank_1``..., of whose files the last by name is taken.
        dst_checkpoints_dir: the folder for new ones, which are ``rank_0/<prefix>0.ckpt``...
        ckpt_prefix: start of the names of the new files.
        src_strategy_file: how the files are cut; None for what they say themselves, and if they do not, whole ones.
        dst_strategy_file: how the new ones are to be cut; None for one whole file.
        process_num: accepted.
        output_format: ``"ckpt"`` or ``"safetensors"``.

    Raises:
        TypeError: a name is no string.
        NotADirectoryError: a folder is none.
        ValueError: a file is missing or damaged, or does not fit its strategy.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> save_checkpoint({"w": Tensor([[1.0], [2.0]])}, folder + "/old/rank_0/net.ckpt")
        >>> strategies.write(Path(folder, "two.ckpt"), [("w", SliceLayout((2,), (0, -1)))])
        >>> transform_checkpoints(folder + "/old", folder + "/new", "net_", None, folder + "/two.ckpt")
        >>> weft.load_checkpoint(folder + "/new/rank_1/net_1.ckpt")["w"].asnumpy().tolist()
        [[2.0]]
    """
    caller = "transform_checkpoints"
    del process_num
    source_folder = _folder(caller, "src_checkpoints_dir", src_checkpoints_dir)
    target_folder = _folder(caller, "dst_checkpoints_dir", dst_checkpoints_dir, must_be=False)
    if not isinstance(ckpt_prefix, str):
        raise TypeError(f"{caller}: ckpt_prefix must be a str, not {type(ckpt_prefix).__name__}")
    if output_format not in _FORMATS:
        raise ValueError(f"{caller}: output_format must be 'ckpt' or 'safetensors', not {output_format!r}")
    source = None if src_strategy_file is None else strategy_of(caller, src_strategy_file)
    target = strategy_of(caller, dst_strategy_file)
    found = rank_files(caller, source_folder)
    if source is not None:
        _complete(caller, found, source)
    whole = Sliced(found, source)
    for rank in range(target.devices):
        write_rank(whole, target, rank, target_folder / f"rank_{rank}" / f"{ckpt_prefix}{rank}.{output_format}")


@python_only
def transform_checkpoint_by_rank(
    rank_id: int,
    checkpoint_files_map: Mapping[int, str],
    save_checkpoint_file_name: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
) -> None:
    """Write the checkpoint file of one rank for another strategy.

    Args:
        rank_id: the rank.
        checkpoint_files_map: the files by rank, those of `rank_list_for_transform` at least.
        save_checkpoint_file_name: the new file.
        src_strategy_file: see `transform_checkpoints`.
        dst_strategy_file: see `transform_checkpoints`.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a file is missing or damaged, or does not fit its strategy.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> save_checkpoint({"w": Tensor([[1.0], [2.0]])}, folder + "/net.ckpt")
        >>> strategies.write(Path(folder, "two.ckpt"), [("w", SliceLayout((2,), (0, -1)))])
        >>> transform_checkpoint_by_rank(1, {0: folder + "/net.ckpt"}, folder + "/new.ckpt", None, folder + "/two.ckpt")
        >>> weft.load_checkpoint(folder + "/new.ckpt")["w"].asnumpy().tolist()
        [[2.0]]
    """
    caller = "transform_checkpoint_by_rank"
    rank = _rank(caller, rank_id)
    if not isinstance(checkpoint_files_map, dict):
        raise TypeError(f"{caller}: checkpoint_files_map must be a dict, not {type(checkpoint_files_map).__name__}")
    if not isinstance(save_checkpoint_file_name, str):
        raise TypeError(
            f"{caller}: save_checkpoint_file_name must be a str, not {type(save_checkpoint_file_name).__name__}"
        )
    path = Path(save_checkpoint_file_name)
    if path.suffix[1:] not in _FORMATS:
        raise ValueError(f"{caller}: save_checkpoint_file_name must end in .ckpt or .safetensors, not {path.name!r}")
    for key, file in checkpoint_files_map.items():
        _rank(caller, key)
        if not Path(file).is_file():
            raise ValueError(f"{caller}: there is no checkpoint file {file} of rank {key}")
    source = None if src_strategy_file is None else strategy_of(caller, src_strategy_file)
    target = strategy_of(caller, dst_strategy_file)
    if rank >= target.devices:
        raise ValueError(f"{caller}: there is no rank {rank} of {target.devices}")
    given = {key: Path(file) for key, file in checkpoint_files_map.items()}
    write_rank(Sliced(given, source), target, rank, path)


@python_only
def rank_list_for_transform(
    rank_id: int, src_strategy_file: str | None = None, dst_strategy_file: str | None = None
) -> list[int]:
    """The ranks whose checkpoint files are needed for that of a rank under another strategy.

    Args:
        rank_id: the rank.
        src_strategy_file: how the files are cut; None for one whole file.
        dst_strategy_file: how the new one is to be cut.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a strategy file is missing or damaged, or there is no such rank.

    Example:
        >>> rank_list_for_transform(0)
        [0]
    """
    caller = "rank_list_for_transform"
    rank = _rank(caller, rank_id)
    source, target = strategy_of(caller, src_strategy_file), strategy_of(caller, dst_strategy_file)
    if dst_strategy_file is not None and rank >= target.devices:
        raise ValueError(f"{caller}: there is no rank {rank} of {target.devices}")
    return ranks_for(rank if dst_strategy_file is not None else 0, source, target)


@python_only
def merge_pipeline_strategys(src_strategy_dirs: str, dst_strategy_file: str) -> None:
    """Write the strategy files of all stages of a pipeline as one.

    Args:
        src_strategy_dirs: a folder with the files.
        dst_strategy_file: the new file.

    Raises:
        NotADirectoryError: the folder is none.
        ValueError: it holds no strategy files, or they do not fit each other.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> for stage, name in enumerate("ab"):
        ...     strategies.write(folder / f"stage_{stage}.ckpt", [(name, SliceLayout((2,), (0,)))], stage)
        >>> merge_pipeline_strategys(str(folder), str(folder / "all" / "both.ckpt"))
        >>> sorted(build_searched_strategy(str(folder / "all" / "both.ckpt")))
        ['0-a', '1-b']
    """
    caller = "merge_pipeline_strategys"
    folder = _folder(caller, "src_strategy_dirs", src_strategy_dirs)
    if not isinstance(dst_strategy_file, (str, os.PathLike)):
        raise TypeError(f"{caller}: dst_strategy_file must be a str, not {type(dst_strategy_file).__name__}")
    target = Path(dst_strategy_file)
    layouts: dict[int, dict[str, SliceLayout]] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix not in (".ckpt", ".json") or not file.is_file() or file.resolve() == target.resolve():
            continue
        found = strategies.read(file, caller)
        for stage, named in found.layouts.items():
            layouts.setdefault(found.stage + stage, {}).update(named)
    if not layouts:
        raise ValueError(f"{caller}: there are no strategy files in {folder}")
    whole = Strategy(layouts)
    merged = [(f"{stage}-{name}", one) for stage, named in sorted(whole.layouts.items()) for name, one in named.items()]
    strategies.write(target, merged)


@python_only
def build_searched_strategy(strategy_filename: str) -> dict[str, SliceLayout]:
    """How each parameter is cut, by name.

    Args:
        strategy_filename: the strategy file.

    Raises:
        TypeError: the name is no string.
        ValueError: there is no such file, or it is damaged.

    Example:
        >>> import tempfile
        >>> file = tempfile.mkdtemp() + "/strategy.ckpt"
        >>> strategies.write(Path(file), [("w", SliceLayout((2, 4), (0, -1)))])
        >>> build_searched_strategy(file)
        {'w': SliceLayout((2, 4), (0, -1))}
    """
    caller = "build_searched_strategy"
    if not isinstance(strategy_filename, (str, os.PathLike)):
        raise TypeError(f"{caller}: strategy_filename must be a str, not {type(strategy_filename).__name__}")
    found = strategies.read(Path(strategy_filename), caller)
    if len(found.layouts) == 1 and 0 in found.layouts:
        return dict(found.layouts[0])
    return {f"{stage}-{name}": one for stage, named in sorted(found.layouts.items()) for name, one in named.items()}


def merge_sliced_parameter(
    sliced_parameters: list[Parameter], strategy: dict[str, SliceLayout] | None = None
) -> Parameter:
    """The parameter whose slices ranks hold.

    Args:
        sliced_parameters: the slices, in the order of the ranks.
        strategy: what `build_searched_strategy` gives; None for slices along the first dimension.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: the slices do not fit each other, or the strategy.
        KeyError: the strategy does not name the parameter.

    Example:
        >>> slices = [Parameter(Tensor([[1.0, 2.0]]), name="w"), Parameter(Tensor([[3.0, 4.0]]), name="w")]
        >>> merge_sliced_parameter(slices, {"w": SliceLayout((2,), (-1, 0))}).asnumpy().tolist()
        [[1.0, 2.0, 3.0, 4.0]]
    """
    caller = "merge_sliced_parameter"
    if not isinstance(sliced_parameters, list):
        raise TypeError(f"{caller}: sliced_parameters must be a list, not {type(sliced_parameters).__name__}")
    if not sliced_parameters:
        raise ValueError(f"{caller}: sliced_parameters must not be empty")
    for one in sliced_parameters:
        if not isinstance(one, Parameter):
            raise TypeError(f"{caller}: sliced_parameters must hold Parameters, not {type(one).__name__}")
    if strategy is not None and not isinstance(strategy, dict):
        raise TypeError(f"{caller}: strategy must be a dict, not {type(strategy).__name__}")
    first = sliced_parameters[0]
    arrays = [np.array(one) for one in sliced_parameters]
    for one in sliced_parameters:
        if (one.name, one.dtype, one.ndim, one.shape[1:]) != (first.name, first.dtype, first.ndim, first.shape[1:]):
            raise ValueError(
                f"{caller}: slices of one parameter are needed, not {first.name!r} of shape {first.shape} and "
                f"{one.name!r} of shape {one.shape}"
            )
    if strategy is None:
        merged = np.concatenate(arrays) if first.ndim else arrays[0]
    else:
        if first.name not in strategy:
            raise KeyError(f"{caller}: strategy does not name {first.name!r}")
        layout = strategy[first.name]
        if not isinstance(layout, SliceLayout) or len(arrays) != layout.devices:
            raise ValueError(f"{caller}: {len(arrays)} slices do not fit the layout {layout!r} of {first.name!r}")
        if len({array.shape for array in arrays}) > 1:
            raise ValueError(f"{caller}: the slices of {first.name!r} have different shapes")
        merged = np.empty(layout.whole(first.shape), arrays[0].dtype)
        for rank, array in enumerate(arrays):
            merged[layout.box(array.shape, rank).within()] = array
    return Parameter(Tensor(merged), name=first.name, requires_grad=first.requires_grad)


@python_only
def unified_safetensors(
    src_dir: str,
    src_strategy_file: str | None,
    dst_dir: str,
    merge_with_redundancy: bool = True,
    file_suffix: str | None = None,
    max_process_num: int = 64,
    choice_func: Callable[[str], bool | str] | None = None,
    split_dst_file: tuple[int, ...] = (),
) -> None:
    """Write the safetensors files of all ranks as one of whole parameters.

    Args:
        src_dir: a folder with folders ``rank_0``, ``rank_1``..., of whose files the last by name is taken.
        src_strategy_file: how the files are cut; None for what they say themselves.
        dst_dir: the folder for ``part0.safetensors``, for ``hyper_param.safetensors`` with what the strategy does not
            name, and for ``param_name_map.json``, which says where parameters are.
        merge_with_redundancy: accepted.
        file_suffix: only files whose names end so.
        max_process_num: accepted.
        choice_func: called with each name; gives whether to write the parameter, or another name for it.
        split_dst_file: accepted.

    Raises:
        TypeError: an argument has the wrong type.
        NotADirectoryError: a folder is none.
        ValueError: a file is missing or damaged, or does not fit the strategy.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for rank in range(2):
        ...     save_checkpoint({"w": Tensor([[float(rank)]])}, f"{folder}/old/rank_{rank}/net.safetensors")
        >>> strategies.write(Path(folder, "two.ckpt"), [("w", SliceLayout((2,), (0, -1)))])
        >>> unified_safetensors(folder + "/old", folder + "/two.ckpt", folder + "/whole")
        >>> weft.load_checkpoint(folder + "/whole/part0.safetensors")["w"].asnumpy().tolist()
        [[0.0], [1.0]]
    """
    caller = "unified_safetensors"
    del merge_with_redundancy, max_process_num, split_dst_file
    found = rank_files(caller, _folder(caller, "src_dir", src_dir), "safetensors", file_suffix)
    target = _folder(caller, "dst_dir", dst_dir, must_be=False)
    strategy = None if src_strategy_file is None else strategy_of(caller, src_strategy_file)
    if strategy is not None:
        _complete(caller, found, strategy)
    source = Sliced(found, strategy)
    named: dict[str, Parameter] = {}
    others: dict[str, Parameter] = {}
    for name in source.wholes:
        wanted = True if choice_func is None else choice_func(name)
        if not isinstance(wanted, (bool, str)):
            raise TypeError(f"{caller}: choice_func must give a bool or a str, not {type(wanted).__name__}")
        if wanted is False:
            continue
        new = wanted if isinstance(wanted, str) else name
        if new in named or new in others:
            raise ValueError(f"{caller}: two parameters are named {new!r}")
        room = named if strategy is None or strategy.stages_of(name) else others
        room[new] = Parameter(Tensor(source.read(name)), name=new, requires_grad=name in source.trained)
    part = "part0.safetensors"
    save_checkpoint(named, target / part, append_dict=dict(source.texts))
    if others:
        save_checkpoint(others, target / REST)
    size = sum(np.array(value).nbytes for value in named.values())
    listed = {"metadata": {"total_size": size}, "weight_map": dict.fromkeys(named, part)}
    files.write(target / UNIFIED, [json.dumps(listed, indent=4).encode()])


@python_only
def restore_group_info_list(group_info_file_name: str) -> list[int]:
    """The ranks of a group file, which hold the same slices.

    Args:
        group_info_file_name: the file.

    Raises:
        TypeError: the name is no string.
        ValueError: there is no such file, or it is damaged.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp(), "group.pb")
        >>> _ = file.write_bytes(bytes([0x12, 4, 8, 0, 8, 2]))
        >>> restore_group_info_list(str(file))
        [0, 2]
    """
    caller = "restore_group_info_list"
    if not isinstance(group_info_file_name, str):
        raise TypeError(f"{caller}: group_info_file_name must be a str, not {type(group_info_file_name).__name__}")
    path = Path(group_info_file_name)
    if not path.is_file():
        raise ValueError(f"{caller}: there is no group file {path}")
    found: list[int] = []
    try:
        for field, value in ckpt.fields(memoryview(path.read_bytes())):
            if field == 2:
                for inner, part in ckpt.fields(ckpt.message(value, "a group")):
                    if inner == 1:
                        found += [part] if isinstance(part, int) else ckpt.packed(part)
    except ckpt.Damaged as error:
        raise ValueError(f"{caller}: {path} is no undamaged group file: {error}") from None
    return found


@python_only
def get_ckpt_path_with_strategy(cur_ckpt_path: str, cur_strategy_path: str) -> str | None:
    """The checkpoint file of a rank, or where there is none that of another rank that holds the same slices.

    Args:
        cur_ckpt_path: the file of the rank, which has ``rank_<number>`` in its path where others have their number.
        cur_strategy_path: how parameters are cut, of all stages or that of the rank.

    Returns:
        str: a file that there is; None if there is none. Of a path without a rank only that file is looked for.

    Raises:
        TypeError: an argument is no string.
        ValueError: the strategy file is missing or damaged, or has no such rank.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> strategies.write(folder / "strategy.ckpt", [("w", SliceLayout((2, 2), (0,)))])
        >>> (folder / "rank_3").mkdir()
        >>> _ = (folder / "rank_3" / "net.ckpt").write_bytes(b"")
        >>> found = get_ckpt_path_with_strategy(str(folder / "rank_1" / "net.ckpt"), str(folder / "strategy.ckpt"))
        >>> Path(found).parent.name
        'rank_3'
        >>> get_ckpt_path_with_strategy(str(folder / "rank_0" / "net.ckpt"), str(folder / "strategy.ckpt")) is None
        True
    """
    caller = "get_ckpt_path_with_strategy"
    for what, value in (("cur_ckpt_path", cur_ckpt_path), ("cur_strategy_path", cur_strategy_path)):
        if not isinstance(value, (str, os.PathLike)):
            raise TypeError(f"{caller}: {what} must be a str, not {type(value).__name__}")
    path = os.fspath(cur_ckpt_path)
    numbers = _RANK_FOLDER.findall(path)
    if not numbers:
        return path if os.path.isfile(path) else None
    rank = int(numbers[-1])
    candidates = [path]
    for other in _holders(caller, strategies.read(Path(cur_strategy_path), caller), rank):
        candidates.append(re.sub(rf"rank_{numbers[-1]}(?!\d)", f"rank_{other}", path))
    return next(filter(os.path.isfile, candidates), None)


def _holders(caller: str, strategy: Strategy, rank: int) -> list[int]:
    """The ranks that hold the same slices of all parameters as a rank."""
    devices = strategy.stage_devices
    stage, place = divmod(rank, devices)
    named = stage - strategy.stage  # a file of one stage has its layouts under 0
    if named not in strategy.layouts:
        raise ValueError(f"{caller}: the strategy file has no rank {rank}: stages have {devices} devices")
    layouts = strategy.layouts[named].values()

    def held(at: int) -> list[tuple[int, ...]]:
        return [layout.box((1,) * len(layout.cuts), at).start for layout in layouts]

    own = held(place)
    return [stage * devices + at for at in range(devices) if held(at) == own]


@python_only
def load_segmented_checkpoints(
    ckpt_file_dir: str,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """Read all checkpoint files of a folder, which hold different parameters; of equal names the last file counts.

    Args:
        ckpt_file_dir: the folder.
        net: a network to load the parameters into.
        strict_load: see `load_checkpoint`.
        filter_prefix: see `load_checkpoint`.
        dec_key: must be None.
        dec_mode: accepted.
        specify_prefix: see `load_checkpoint`.
        choice_func: see `load_checkpoint`.

    Raises:
        TypeError: the name is no string.
        ValueError: there is no such folder, a file is damaged, or nothing is left after filtering.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for name in "ab":
        ...     save_checkpoint({name: Tensor([1.0])}, f"{folder}/{name}.ckpt")
        >>> sorted(load_segmented_checkpoints(folder))
        ['a', 'b']
    """
    caller = "load_segmented_checkpoints"
    if not isinstance(ckpt_file_dir, (str, os.PathLike)):
        raise TypeError(f"{caller}: ckpt_file_dir must be a str, not {type(ckpt_file_dir).__name__}")
    folder = Path(ckpt_file_dir)
    if not folder.is_dir():
        raise ValueError(f"{caller}: there is no folder {folder}")
    del dec_mode
    chosen = chooser(caller, filter_prefix, specify_prefix, choice_func, dec_key)
    found: dict[str, Any] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix[1:] in _FORMATS and file.is_file():
            found.update(from_file(file, chosen))
    if not found:
        raise CheckpointError(f"{caller}: no parameter is left of the checkpoint files in {folder}")
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


@python_only
def save_param_strategy_file(network: Cell, file_path: str, stage: int = 0) -> None:
    """Write how the parameters of a network are spread over devices as a strategy file.

    Args:
        network: the network, with its optimizer if the states of that are to be named, too.
        file_path: the file; JSON if its name ends in ``.json``, else what MindSpore writes.
        stage: the stage of the pipeline that the network is.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a parameter is spread in a way that strategy files have no word for.

    Example:
        >>> import tempfile
        >>> from weft import nn
        >>> file = tempfile.mkdtemp() + "/strategy.ckpt"
        >>> save_param_strategy_file(nn.Dense(2, 1), file)
        >>> build_searched_strategy(file)
        {'weight': SliceLayout((1,), (-1, -1)), 'bias': SliceLayout((1,), (-1,))}
    """
    caller = "save_param_strategy_file"
    if not isinstance(network, Cell):
        raise TypeError(f"{caller}: network must be a Cell, not {type(network).__name__}")
    if not isinstance(file_path, (str, os.PathLike)):
        raise TypeError(f"{caller}: file_path must be a str, not {type(file_path).__name__}")
    strategies.write(Path(file_path), layouts_of(caller, network).items(), stage)


def layouts_of(caller: str, network: Cell, chosen: Iterable[Parameter] | None = None) -> dict[str, SliceLayout]:
    """How the parameters of a network are spread over devices, by name.

    Args:
        caller: who asks, for messages.
        network: the network.
        chosen: those of the parameters that count, on as many devices each; None for all.

    Raises:
        ValueError: one is spread in a way that strategy files have no word for.
    """
    arrays = {param.name: data_of(param) for param in (network.get_parameters() if chosen is None else chosen)}
    count = max((len(array.sharding.device_set) for array in arrays.values()), default=1)
    return {name: _layout_of(caller, name, array, count) for name, array in arrays.items()}


def _layout_of(caller: str, name: str, array: Any, count: int) -> SliceLayout:
    """How an array is spread, in the words of strategy files."""
    if not is_spread(array) or array.is_fully_replicated:
        return SliceLayout((count,), (-1,) * array.ndim)
    sharding = array.sharding
    if not isinstance(sharding, NamedSharding):
        raise ValueError(f"{caller}: {name!r} is spread as {sharding}, which has no grid of devices")
    axes = list(sharding.mesh.axis_names)
    sizes = [sharding.mesh.shape[axis] for axis in axes]
    groups = {i: [axis] for i, axis in enumerate(axes)}  # by the first of axes that count as one
    along: list[int | None] = []
    for entry in [*sharding.spec, *[None] * (array.ndim - len(sharding.spec))]:
        names = () if entry is None else entry if isinstance(entry, tuple) else (entry,)
        if not names:
            along.append(None)
            continue
        first = axes.index(names[0])
        if list(names) != axes[first : first + len(names)]:
            raise ValueError(
                f"{caller}: {name!r} is cut along {names} of {tuple(axes)}, which are not next to each other"
            )
        for i in range(first + 1, first + len(names)):
            groups[first] += groups.pop(i)
        along.append(first)
    starts = sorted(groups)
    grid = [math.prod(sizes[axes.index(axis)] for axis in groups[start]) for start in starts]
    if math.prod(grid) != count:
        raise ValueError(f"{caller}: {name!r} is on {math.prod(grid)} devices, other parameters on {count}")
    return SliceLayout(grid, [-1 if first is None else len(starts) - 1 - starts.index(first) for first in along])
