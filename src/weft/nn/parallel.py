"""Cells of parallel programs: gradients of all processes are reduced, micro batches are added up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from weft import dtypes
from weft.context import SCHEDULERS, ParallelMode, get_auto_parallel_context, set_auto_parallel_context
from weft.core import Parameter, Tensor, apply, keeps, shows, told, transparent
from weft.cuts import check_strategies
from weft.nn.cell import Cell
from weft.nn.declared import Described, declared
from weft.nn.layer.normalization import _BatchNorm
from weft.ops._checks import bools, one_of, positive_ints, strings
from weft.ops.across import ALL_REDUCE_EACH, BROADCAST, ReduceOp
from weft.ops.create import ones_like
from weft.ops.state import assign
from weft.parallel.groups import Group
from weft.parallel.layout import Layout
from weft.parallel.placement import count
from weft.parallel.processes import processes
from weft.parallel.stages import at_stage
from weft.parallel.strategies import plan, spread_around
from weft.parallel.world import HCCL_WORLD_COMM_GROUP, SeveralProcesses, members_of, rank_id

__all__ = [
    "AutoParallel", "DistributedGradReducer", "GradAccumulation", "MicroBatchInterleaved", "Pipeline",
    "PipelineGradReducer", "SyncBatchNorm", "shard", "sync_pipeline_shared_parameters",
]  # fmt: skip


class DistributedGradReducer(Cell):
    """The gradients of all processes, added up or averaged, in one exchange.

    The processes also compare the parameters, of each as many as 64 elements: where they have come apart, as by
    another learning rate, optimizer or initial value on one of them, the exchange is an error on all.

    Args:
        parameters: what the gradients belong to. Those that are ``layerwise_parallel`` are the process's own: their
            gradients stay as they are, and they are not compared; nor is what is not given.
        mean: whether gradients are averaged; None for what the settings of parallel programs say.
        degree: number of processes; None for those of the group.
        fusion_type: accepted.
        group: the processes.

    Raises:
        RuntimeError: there are other processes than the degree says; in a call, when values of a parameter differ.

    Example:
        >>> reduce = DistributedGradReducer([])
        >>> print(reduce((Tensor([1.0]),))[0])
        [1.]
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str = HCCL_WORLD_COMM_GROUP,
    ) -> None:
        super().__init__(auto_prefix=False)
        del fusion_type
        if mean is not None:
            bools("DistributedGradReducer", mean=mean)
        if degree is not None:
            positive_ints("DistributedGradReducer", degree=degree)
        count = len(members_of("DistributedGradReducer", group).ranks)
        devices = get_auto_parallel_context("device_num") if degree is None else degree
        if devices != count:
            raise SeveralProcesses(f"DistributedGradReducer: gradients of {devices} devices")
        self.mean = bool(get_auto_parallel_context("gradients_mean")) if mean is None else mean
        self.degree = count
        self.group = group
        given = [parameters] if isinstance(parameters, Parameter) else list(parameters or ())
        own = [isinstance(each, Parameter) and each.layerwise_parallel for each in given]
        alike = tuple([each for each in given if isinstance(each, Parameter) and not each.layerwise_parallel])
        self.__dict__["_alike"] = alike  # a plain attribute: they belong to the network
        self._own = tuple(own)

    def construct(self, grads: Any) -> Any:
        group = members_of("DistributedGradReducer", self.group)
        own = self._own if len(self._own) == len(grads) else (False,) * len(grads)
        places = [i for i, grad in enumerate(grads) if isinstance(grad, Tensor) and not own[i]]
        if len(group.ranks) == 1 or not places:
            return tuple(grads)
        op = ReduceOp.AVG if self.mean else ReduceOp.SUM
        names = tuple([param.name for param in self._alike])
        reduced = apply(ALL_REDUCE_EACH, (*[grads[i] for i in places], *self._alike), (op, names, group))
        found = list(grads)
        for place, grad in zip(places, reduced, strict=True):
            found[place] = grad
        return tuple(found)


def broadcast_parameters(network: Cell, root: int = 0) -> None:
    """Give the parameters of one process to all, but for those that each has for itself (``layerwise_parallel``).

    Args:
        network: whose parameters.
        root: the process.
    """
    group = members_of("broadcast_parameters", "")
    if len(group.ranks) > 1:
        for param in [each for each in network.get_parameters() if not each.layerwise_parallel]:
            param.set_data(apply(BROADCAST, (param,), (root, group)))


def sync_pipeline_shared_parameters(net: Cell) -> None:
    """Give all stages of a pipeline the parameters that they have in common.

    A parameter belongs to one stage, and the others get it in each step, so that there is nothing to do.

    Args:
        net: the network.

    Raises:
        TypeError: it is no Cell.

    Example:
        >>> from weft import nn
        >>> sync_pipeline_shared_parameters(nn.Dense(2, 2))
    """
    if not isinstance(net, Cell):
        raise TypeError(f"sync_pipeline_shared_parameters: net must be a Cell, not {type(net).__name__}")


class _Batches(Described, Cell):
    """The sum of what a network gives for equal parts of its inputs along the first dimension.

    Args:
        network: the network.
        micro_size: number of micro batches.
    """

    _example = """
        >>> from weft import nn
        >>> print({name}(nn.Identity(), {})(Tensor({})))
        {}
    """
    _shows = ("2", "[[1.0], [2.0]]", "[[3.]]")

    def __init__(self, network: Cell, what: str, parts: int) -> None:
        super().__init__(auto_prefix=False)
        name = type(self).__name__
        if not isinstance(network, Cell):
            raise TypeError(f"{name}: network must be a Cell, not {type(network).__name__}")
        positive_ints(name, **{what: parts})
        self.network = network
        self.parts = parts
        setattr(self, what, parts)

    def construct(self, *inputs: Any, **named: Any) -> Any:
        total = None
        for part in range(self.parts):
            parts = at_stage([self._part(value, part) for value in (*inputs, *named.values())], None, part)
            out = self.network(*parts[: len(inputs)], **dict(zip(named, parts[len(inputs) :], strict=True)))
            total = out if total is None else total + out
        return total

    def _part(self, value: Any, part: int) -> Any:
        """One part of an input; what is no tensor is the same for all."""
        if not isinstance(value, Tensor) or not value.ndim:
            return value
        rows, left = divmod(value.shape[0], self.parts)
        if left:
            raise ValueError(
                f"{type(self).__name__}: an input of shape {value.shape} has not {self.parts} equal parts along its "
                "first dimension"
            )
        return value[part * rows : (part + 1) * rows]


class Pipeline(_Batches):
    """A network that gets its inputs in micro batches; the results are added up.

    Args:
        stage_config: the stage of cells of the network, by their names.
        segment_config: accepted.

    Raises:
        ValueError: the network has no cell of such a name.
    """

    def __init__(self, network: Cell, micro_size: int, stage_config: Any = None, segment_config: Any = None) -> None:
        super().__init__(network, "micro_size", micro_size)
        del segment_config
        cells = dict(network.cells_and_names())
        for name, stage in (stage_config or {}).items():
            if name not in cells:
                raise ValueError(
                    f"{type(self).__name__}: stage_config names {name!r}, which is no cell of the network; it has "
                    f"{sorted(filter(None, cells))}"
                )
            cells[name].pipeline_stage = stage


class GradAccumulation(_Batches):
    """A network that gets its inputs in micro batches; the results, and so the gradients, are added up."""

    def __init__(self, network: Cell, micro_size: int) -> None:
        super().__init__(network, "micro_size", micro_size)


class MicroBatchInterleaved(_Batches):
    """A network that gets its inputs in parts, which devices compute in turn; the results are added up.

    Args:
        interleave_num: number of parts.
    """

    def __init__(self, network: Cell, interleave_num: int = 2) -> None:
        super().__init__(network, "interleave_num", interleave_num)


class PipelineGradReducer(Cell):
    """The gradients of all stages of a pipeline, divided by a scale.

    Args:
        parameters: what the gradients belong to.
        scale_sense: the scale.
        opt_shard: accepted.

    Example:
        >>> print(PipelineGradReducer([], 2.0)((Tensor([4.0]),))[0])
        [2.]
    """

    def __init__(self, parameters: Any, scale_sense: Any = 1.0, opt_shard: Any = None) -> None:
        super().__init__(auto_prefix=False)
        del parameters, opt_shard
        self.scale_sense = scale_sense

    def construct(self, grads: Any) -> Any:
        return tuple([(grad / self.scale_sense).astype(grad.dtype) for grad in grads])


class SyncBatchNorm(_BatchNorm, dimensions=(2, 4), shows=("2", "[[[[1.0]], [[2.0]]]]", "(1, 2, 1, 1)")):
    """Batch normalisation over the batches of all processes of a group, which have the same size.

    Args:
        process_groups: lists of the ranks that share statistics; None for all.

    Raises:
        RuntimeError: this process is in none of the groups.
    """

    @declared()
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        process_groups: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None: ...

    def _made(self) -> None:
        here = processes()
        groups = [range(here.count)] if self.process_groups is None else self.process_groups
        found = [tuple(group) for group in groups if here.rank in group]
        if len(found) != 1 or not set(found[0]).issubset(range(here.count)):
            raise SeveralProcesses(f"SyncBatchNorm: process_groups={self.process_groups}")
        self._group = Group("" if len(found[0]) == here.count else "sync_bn_group", found[0])

    def construct(self, x: Any) -> Any:
        chosen = self.use_batch_statistics
        if len(self._group.ranks) == 1 or not (self.training if chosen is None else chosen):
            return super().construct(x)
        axes, shape = (0, *range(2, x.ndim)), (1, -1, *[1] * (x.ndim - 2))
        wide = x.astype(dtypes.float32)
        own = wide.sum(axes), (wide * wide).sum(axes), ones_like(wide).sum(axes)  # processes may have other counts
        total, squares, count = apply(ALL_REDUCE_EACH, own, (ReduceOp.SUM, (), self._group))
        mean = total / count
        variance = squares / count - mean * mean
        for moving, new in (
            (self.moving_mean, mean), (self.moving_variance, variance * (count / (count - 1).maximum(1)))
        ):  # fmt: skip
            assign(moving, (moving * self.momentum + new * (1 - self.momentum)).astype(moving.dtype))
        normal = (wide - mean.reshape(shape)) / (variance.reshape(shape) + self.eps).sqrt()
        return (normal * self.gamma.reshape(shape) + self.beta.reshape(shape)).astype(x.dtype)


class AutoParallel(Cell):
    """A network that devices share.

    It is the network, and it and its methods change the settings of parallel programs (`set_auto_parallel_context`),
    which are those of the whole program; what has no setting is checked and kept.

    Args:
        network: the network.
        parallel_mode: ``"semi_auto"``, ``"sharding_propagation"`` or ``"recursive_programming"``.

    Raises:
        ValueError: the mode is none of these.

    Example:
        >>> from weft import nn
        >>> net = AutoParallel(nn.Identity(), parallel_mode="semi_auto")
        >>> net.dataset_strategy("full_batch")
        >>> print(net(Tensor([1.0])))
        [1.]
    """

    def __init__(self, network: Any, parallel_mode: str = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        modes = ("semi_auto", "sharding_propagation", "recursive_programming")
        one_of("AutoParallel", modes, parallel_mode=parallel_mode)
        self.network = network
        self.chosen: dict[str, Any] = {"parallel_mode": parallel_mode, "stages": 1}
        searched = {} if parallel_mode == "semi_auto" else {"search_mode": parallel_mode}
        mode = ParallelMode.AUTO_PARALLEL if searched else ParallelMode.SEMI_AUTO_PARALLEL
        set_auto_parallel_context(parallel_mode=mode, **searched)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return self.network(*args, **kwargs)

    def dataset_strategy(self, config: Any) -> None:
        """How the data is spread: ``"full_batch"``, ``"data_parallel"``, or a tuple for each input."""
        if isinstance(config, str):
            one_of("AutoParallel.dataset_strategy", ("full_batch", "data_parallel"), config=config)
        if not isinstance(config, (str, tuple, Layout)):
            raise TypeError(f"AutoParallel: the strategy must be a str or a tuple, not {type(config).__name__}")
        self.chosen["dataset_strategy"] = config
        set_auto_parallel_context(dataset_strategy=(config,) if isinstance(config, Layout) else config)

    def hsdp(self, shard_size: int = -1, threshold: int = 64, optimizer_level: str = "level1") -> None:
        """How the optimizer's state is spread."""
        if rank_id("AutoParallel.hsdp", "shard_size", shard_size) < -1 or shard_size == 0:
            raise ValueError(f"AutoParallel.hsdp: shard_size must be positive, or -1 for all, not {shard_size}")
        if shard_size > 1 and count() == 1:
            raise SeveralProcesses(f"AutoParallel.hsdp: shard_size={shard_size}")
        if shard_size > 1 and count() % shard_size:
            raise ValueError(f"AutoParallel.hsdp: shard_size={shard_size} does not divide the {count()} devices")
        if threshold < 0:
            raise ValueError(f"AutoParallel.hsdp: threshold must not be negative, not {threshold}")
        one_of("AutoParallel.hsdp", ("level1", "level2", "level3"), optimizer_level=optimizer_level)
        self.chosen["hsdp"] = (shard_size, threshold, optimizer_level)
        config = {
            "optimizer_weight_shard_size": shard_size,
            "parallel_optimizer_threshold": threshold,
            "optimizer_level": optimizer_level,
        }
        set_auto_parallel_context(enable_parallel_optimizer=True, parallel_optimizer_config=config)

    def pipeline(
        self, stages: int = 1, output_broadcast: bool = False, interleave: bool = False, scheduler: str = "1f1b"
    ) -> None:
        """How many stages the devices are cut into, and in which order these compute (``"1f1b"`` or ``"gpipe"``)."""
        positive_ints("AutoParallel.pipeline", stages=stages)
        one_of("AutoParallel.pipeline", SCHEDULERS, scheduler=scheduler)
        self.chosen["pipeline"] = (stages, output_broadcast, interleave, scheduler)
        config = {"pipeline_interleave": bool(interleave), "pipeline_scheduler": scheduler}
        set_auto_parallel_context(
            pipeline_stages=stages, pipeline_result_broadcast=bool(output_broadcast), pipeline_config=config
        )

    def get_pipeline_stages(self) -> int:
        """Number of stages."""
        return int(get_auto_parallel_context("pipeline_stages"))

    def comm_fusion(self, config: Any) -> None:
        """What is sent together."""
        if not isinstance(config, dict):
            raise TypeError(f"AutoParallel.comm_fusion: config must be a dict, not {type(config).__name__}")
        self.chosen["comm_fusion"] = config


#: methods that keep a wish without arguments
_WISHES: Final = {
    "no_init_parameters_in_compile": "Parameters have values from the first.",
    "disable_strategy_file_only_for_trainable_params": "Note the strategies of all parameters.",
    "enable_fp32_communication": "Exchange in float32.",
    "enable_gradients_mean": "Average gradients over devices.",
    "enable_device_local_norm": "Note norms of gradients of each device.",
    "disable_gradient_fp32_sync": "Exchange gradients in their own type.",
    "disable_loss_repeated_mean": "Add up a loss that is computed repeatedly.",
    "print_local_norm": "Print norms of gradients of each device.",
}
#: methods that keep the path of a file, and the setting for it, if there is one
_FILES: Final = (
    ("dump_local_norm", "Where norms of gradients go.", ""),
    ("load_param_strategy_file", "Where strategies of parameters are.", "strategy_ckpt_load_file"),
    ("save_param_strategy_file", "Where strategies of parameters go.", "strategy_ckpt_save_file"),
    ("load_operator_strategy_file", "Where strategies of operators are.", ""),
    ("save_operator_strategy_file", "Where strategies of operators go.", ""),
    ("set_group_ckpt_save_file", "Where groups go.", ""),
    ("transformer_opt", "Where options of transformers are.", ""),
)


def _switched(name: str, doc: str) -> Callable[..., None]:
    def switch(self: Any) -> None:
        self.chosen[name] = True

    return told(switch, name, doc)


def _filed(name: str, doc: str, setting: str) -> Callable[..., None]:
    def keep(self: Any, file_path: str) -> None:
        strings(f"AutoParallel.{name}", file_path=file_path)
        self.chosen[name] = file_path
        if setting:
            set_auto_parallel_context(**{setting: file_path})

    return told(keep, name, doc)


for _name, _doc in _WISHES.items():
    setattr(AutoParallel, _name, _switched(_name, _doc))
for _name, _doc, _setting in _FILES:
    setattr(AutoParallel, _name, _filed(_name, _doc, _setting))


@keeps
@shows("shard(lambda x: x + 1, in_strategy=((1,),))(Tensor([1.0]))", "[2.]")
def shard(fn: Any, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None) -> Any:
    """A function whose inputs and results are spread over devices; what it computes stays the same.

    Args:
        fn: the function or Cell.
        in_strategy: how each input is cut, or its `Layout`.
        out_strategy: how each output is cut.
        parameter_plan: for parameters of a Cell by name, how each is cut.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a dimension is cut into less than one part, or the Cell has no parameter of a name in the plan.
    """
    if not callable(fn):
        raise TypeError(f"shard: fn must be a function or a Cell, not {type(fn).__name__}")
    for what, value in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        check_strategies("shard", what, value)
    if parameter_plan is not None:
        plan("shard", fn, parameter_plan)
    return _Sharded(fn, in_strategy, out_strategy)


class _Sharded:
    """A function whose inputs and results are spread over devices."""

    def __init__(self, fn: Callable[..., Any], inside: Any, outside: Any) -> None:
        self.fn, self.inside, self.outside = fn, inside, outside

    @transparent
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return spread_around(self.fn, args, kwargs, self.inside, self.outside, "shard")
