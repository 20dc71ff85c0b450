"""Schedulers: what changes the learning rates of optimizers that keep their parameters in groups."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from typing import Any

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.declared import Described
from weft.nn.experimental.optimizer import Optimizer, rate_of
from weft.ops.elementwise import floor
from weft.ops.select import where
from weft.ops.state import assign, assign_add
from weft.ops.trigonometry import cos

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR",
]  # fmt: skip


def _number(value: float, name: str) -> Parameter:
    return Parameter(Tensor(float(value), dtypes.float32), name=name, requires_grad=False)


def _whole(value: Any, name: str, scheduler: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{scheduler}', the '{name}' must be int, but got {type(value)}.")
    return value


def _real(value: Any, name: str, scheduler: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"For '{scheduler}', the '{name}' must be float, but got {type(value)}.")
    return float(value)


def _each(value: Any, count: int, what: str) -> list[Any]:
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(f"Expected {count} {what}, but got {len(value)}")
        return list(value)
    return [value] * count


def _rates_of(optimizer: Optimizer, count: int) -> list[Parameter]:
    """The rates of the first groups, those that were there when a scheduler was made."""
    groups = optimizer.param_groups[:count]
    for number, group in enumerate(groups):
        if not isinstance(group["lr"], Parameter):  # the program replaced it
            group["lr"] = rate_of(group["lr"], f"learning_rate_group_{number}")
    return [group["lr"] for group in groups]


class LRScheduler(Described):
    """Base of the schedulers: `step` sets the learning rate of each group to what `get_lr` gives.

    Args:
        optimizer: an optimizer of `experimental.optim`.
        last_epoch: the last step that was done; -1 to begin.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: `last_epoch` is less than -1.
        KeyError: the optimizer has no ``initial_lr`` to go on with.

    Example:
        >>> import weft
        >>> class Halved(LRScheduler):
        ...     def get_lr(self):
        ...         return [base * 0.5**self.last_epoch for base in self.base_lrs]
        >>> from weft.nn.experimental import SGD
        >>> optimizer = SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 0.5)
        >>> scheduler = Halved(optimizer)
        >>> scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    _example = """
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> scheduler = {name}(SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], {}), {})
        >>> rates = {}
        >>> for _ in range({}):
        ...     scheduler.step()
        ...     rates.append(scheduler.get_last_lr()[0].item())
        >>> rates
        {}
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if isinstance(last_epoch, bool) or not isinstance(last_epoch, int):
            raise TypeError(f"The type of 'last_epoch' should be 'int', but got type '{type(last_epoch).__name__}'.")
        if last_epoch < -1:
            raise ValueError(f"Invalid last_epoch: {last_epoch}")
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", Tensor(group["lr"].asnumpy()))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming an optimizer"
                )
        self.optimizer = optimizer
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.groups_num = len(optimizer.param_groups)
        self.last_epoch = _number(last_epoch, f"last_epoch_{type(self).__name__}")
        self._begin()

    def _begin(self) -> None:
        """The step that sets the first rates."""
        self.step()

    @property
    def _last_lr(self) -> list[Tensor]:
        """The learning rates before the step, for the `get_lr` of a subclass."""
        return self.get_last_lr()

    @property
    def _rates(self) -> list[Parameter]:
        return _rates_of(self.optimizer, self.groups_num)

    def get_lr(self) -> list[Any]:
        """The learning rates of the step `last_epoch`, one for each group: what a subclass gives."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr(self)")

    def get_last_lr(self) -> list[Tensor]:
        """The learning rates as they are now, one for each group."""
        return [rate.value() for rate in self._rates]

    def step(self, epoch: Any = None) -> None:
        """Set the learning rates of the next step.

        Args:
            epoch: the step; the next one, if not given.
        """
        if epoch is None:
            assign_add(self.last_epoch, 1.0)
        else:
            assign(self.last_epoch, Tensor(float(epoch), dtypes.float32))
        for rate, value in zip(self._rates, self.get_lr(), strict=True):
            assign(rate, value if isinstance(value, Tensor) else Tensor(float(value), dtypes.float32))

    def _times(self, factor: Any) -> list[Any]:
        """The rates times a factor, which does not count in the first step."""
        factor = where(self.last_epoch == 0.0, 1.0, factor)
        return [rate * factor for rate in self._rates]


class _Checked(LRScheduler):
    """Base of the schedulers that check nothing but types.

    Raises:
        TypeError: an argument has the wrong type.
    """


class StepLR(_Checked, shows=("0.5", "2, 0.5", "[]", "4", "[0.5, 0.25, 0.25, 0.125]")):
    """The rate times `gamma` every so many steps.

    Args:
        step_size: how many.
        gamma: the factor.
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = _whole(step_size, "step_size", "StepLR")
        self.gamma = _real(gamma, "gamma", "StepLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self._times(where(self.last_epoch % float(self.step_size) == 0.0, self.gamma, 1.0))


class MultiStepLR(_Checked, shows=("0.5", "[2], 0.5", "[]", "3", "[0.5, 0.25, 0.25]")):
    """The rate times `gamma` at certain steps.

    Args:
        milestones: the steps.
        gamma: the factor.
    """

    def __init__(self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        if not isinstance(milestones, list):
            raise TypeError(f"The type of 'milestones' should be 'list', but got type '{type(milestones).__name__}'.")
        self.milestones = Counter(_whole(each, "milestones", "MultiStepLR") for each in milestones)
        self.gamma = _real(gamma, "gamma", "MultiStepLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        factor: Any = 1.0
        for step, count in self.milestones.items():
            factor = where(self.last_epoch == float(step), self.gamma**count, 1.0) * factor
        return [rate * factor for rate in self._rates]


class ConstantLR(LRScheduler, shows=("0.5", "0.5, 2", "[scheduler.get_last_lr()[0].item()]", "2", "[0.25, 0.25, 0.5]")):
    """A part of the rate, until so many steps are done.

    Args:
        factor: the part, from 0 to 1.
        total_iters: how many.

    Raises:
        ValueError: `factor` is out of range.
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.factor = _real(factor, "factor", "ConstantLR")
        if not 0 <= self.factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.total_iters = _whole(total_iters, "total_iters", "ConstantLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        back = 1.0 / self.factor if self.factor else math.inf
        later = where(self.last_epoch == float(self.total_iters), back, 1.0)
        factor = where(self.last_epoch == 0.0, self.factor, later)
        return [rate * factor for rate in self._rates]


class LinearLR(
    LRScheduler, shows=("1.0", "0.5, 1.0, 2", "[scheduler.get_last_lr()[0].item()]", "2", "[0.5, 0.75, 1.0]")
):
    """The rate from one part of it to another, along a line.

    Args:
        start_factor: the first part, above 0, to 1.
        end_factor: the last part, from 0 to 1.
        total_iters: after how many steps.

    Raises:
        ValueError: a factor is out of range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor = _real(start_factor, "start_factor", "LinearLR")
        if not 0 < self.start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less than or equal to 1."
            )
        self.end_factor = _real(end_factor, "end_factor", "LinearLR")
        if not 0 <= self.end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.total_iters = _whole(total_iters, "total_iters", "LinearLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1.0) * rise
        later = where(self.last_epoch > float(self.total_iters), 1.0, 1.0 + rise / before)
        factor = where(self.last_epoch == 0.0, self.start_factor, later)
        return [rate * factor for rate in self._rates]


class ExponentialLR(_Checked):
    """The rate times `gamma` in each step.

    Args:
        gamma: the factor.

    Example:
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> scheduler = ExponentialLR(SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 1.0), 0.5)
        >>> scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = _real(gamma, "gamma", "ExponentialLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self._times(self.gamma)


class PolynomialLR(_Checked):
    """The rate to 0, as a power of the part of the steps that is left.

    Args:
        total_iters: after how many steps.
        power: the power.

    Example:
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> scheduler = PolynomialLR(SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 1.0), 4, 2.0)
        >>> scheduler.step(), scheduler.step()
        (None, None)
        >>> print(scheduler.get_last_lr()[0])
        0.25
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = _whole(total_iters, "total_iters", "PolynomialLR")
        self.power = _real(power, "power", "PolynomialLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        step = where(self.last_epoch < float(self.total_iters), self.last_epoch, float(self.total_iters))
        left = (1.0 - step / float(self.total_iters)) ** self.power
        return [base * left for base in self.base_lrs]


class CosineAnnealingLR(_Checked):
    """The rate down to `eta_min` and up again, along a cosine.

    Args:
        T_max: how many steps lead down.
        eta_min: the smallest rate.

    Example:
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> scheduler = CosineAnnealingLR(SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 1.0), 2)
        >>> scheduler.step()
        >>> round(scheduler.get_last_lr()[0].item(), 4)
        0.5
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = _whole(T_max, "T_max", "CosineAnnealingLR")
        self.eta_min = _real(eta_min, "eta_min", "CosineAnnealingLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        height = (1.0 + cos(self.last_epoch * (math.pi / self.T_max))) / 2.0
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate down to `eta_min` along a cosine, again and again.

    Args:
        T_0: how many steps the first time.
        T_mult: how many times as many each next time.
        eta_min: the smallest rate.

    Raises:
        ValueError: `T_0` or `T_mult` is no positive int.

    Example:
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> scheduler = CosineAnnealingWarmRestarts(SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 1.0), 2)
        >>> rates = []
        >>> for _ in range(2):
        ...     scheduler.step()
        ...     rates.append(round(scheduler.get_last_lr()[0].item(), 4))
        >>> rates
        [0.5, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if isinstance(T_0, bool) or not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"T_0 should be an integer and equal or greater than 0, but got {T_0}")
        if isinstance(T_mult, bool) or not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"T_mult should be an integer and equal or greater than 1, but got {T_mult}")
        self.T_0 = T_0
        self.T_mult = T_mult
        self.eta_min = _real(eta_min, "eta_min", "CosineAnnealingWarmRestarts")
        self.T_i = _number(T_0, "T_i")
        self.T_cur = _number(last_epoch, "T_cur")
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: Any = None) -> None:
        """Set the learning rates of the next step.

        Args:
            epoch: the step, which may be part of one; the next one, if not given.

        Raises:
            ValueError: `epoch` is negative.
        """
        if epoch is None:
            following = self.T_cur + 1.0
            ended = following >= self.T_i
            assign(self.T_cur, where(ended, following - self.T_i, following))
            assign(self.T_i, where(ended, self.T_i * float(self.T_mult), self.T_i))
            assign_add(self.last_epoch, 1.0)
        else:
            if isinstance(epoch, Tensor):
                epoch = epoch.item()
            if epoch < 0:
                raise ValueError(f"epoch should be a non-negative integer, but got {epoch}")
            current, period = float(epoch), self.T_0
            while current >= period:
                current, period = current - period, period * self.T_mult
            assign(self.T_cur, Tensor(current, dtypes.float32))
            assign(self.T_i, Tensor(float(period), dtypes.float32))
            assign(self.last_epoch, Tensor(float(math.floor(epoch)), dtypes.float32))
        height = (1.0 + cos(self.T_cur * math.pi / self.T_i)) / 2.0
        for rate, base in zip(self._rates, self.base_lrs, strict=True):
            assign(rate, self.eta_min + (base - self.eta_min) * height)


class CyclicLR(
    LRScheduler, shows=("1.0", "0.5, 1.0, 2", "[scheduler.get_last_lr()[0].item()]", "3", "[0.5, 0.75, 1.0, 0.75]")
):
    """The rate up and down between two bounds.

    Args:
        base_lr: the lower bound; a list with one for each group.
        max_lr: the upper bound; a list with one for each group.
        step_size_up: how many steps lead up.
        step_size_down: how many lead down; as many as up, if not given.
        mode: ``"triangular"``; ``"triangular2"``: each time half as high; ``"exp_range"``: `gamma` to the power of the
            steps as high.
        gamma: see `mode`.
        scale_fn: called with the number of the cycle, or of the step, gives the height instead of `mode`.
        scale_mode: ``"cycle"`` or ``"iterations"``: what `scale_fn` is called with.

    Raises:
        ValueError: there is no such mode, or not a bound for each group.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[Any], Any] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        count = len(optimizer.param_groups)
        lower = _each(base_lr, count, "values for base_lr")
        self.max_lrs = [Tensor(float(each), dtypes.float32) for each in _each(max_lr, count, "values for max_lr")]
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        up = _whole(step_size_up, "step_size_up", "CyclicLR")
        down = up if step_size_down is None else _whole(step_size_down, "step_size_down", "CyclicLR")
        self.total_step_size = float(up + down)
        self.step_up_ratio = up / self.total_step_size
        self.mode = mode
        self.gamma = _real(gamma, "gamma", "CyclicLR")
        self.scale_fn = scale_fn
        self.scale_mode = "iterations" if scale_fn is None and mode == "exp_range" else scale_mode
        if last_epoch == -1:
            for group, each in zip(optimizer.param_groups, lower, strict=True):
                assign(group["lr"], Tensor(float(each), dtypes.float32))
                group["initial_lr"] = Tensor(float(each), dtypes.float32)
        self._lower = [Tensor(float(each), dtypes.float32) for each in lower]
        super().__init__(optimizer, last_epoch)
        self.base_lrs = self._lower

    def _height(self, number: Any) -> Any:
        if self.scale_fn is not None:
            return self.scale_fn(number)
        if self.mode == "triangular":
            return 1.0
        return 0.5 ** (number - 1.0) if self.mode == "triangular2" else self.gamma**number

    def get_lr(self) -> list[Any]:
        part = self.last_epoch / self.total_step_size
        cycle = floor(1.0 + part)
        place = 1.0 + part - cycle
        ratio = self.step_up_ratio
        slope = where(place <= ratio, place / ratio, (place - 1.0) / (ratio - 1.0))
        height = self._height(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return [
            lower + (upper - lower) * slope * height for lower, upper in zip(self._lower, self.max_lrs, strict=True)
        ]


class LambdaLR(LRScheduler):
    """The first rate times what a function gives for the step.

    Args:
        lr_lambda: called with the step (a Tensor), gives the factor; a list with one for each group.

    Raises:
        ValueError: there is not a function for each group.

    Example:
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> scheduler = LambdaLR(SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 1.0), lambda step: 0.5**step)
        >>> scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        if isinstance(optimizer, Optimizer):
            self.lr_lambdas = _each(lr_lambda, len(optimizer.param_groups), "lr_lambdas")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        step = self.last_epoch.value()
        return [base * function(step) for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)]


class MultiplicativeLR(LambdaLR):
    """The rate times what a function gives for the step.

    Example:
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> scheduler = MultiplicativeLR(SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 1.0), lambda step: 0.5)
        >>> scheduler.step()
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def get_lr(self) -> list[Any]:
        step = self.last_epoch.value()
        first = self.last_epoch == 0.0
        return [
            rate * where(first, 1.0, function(step))
            for rate, function in zip(self._rates, self.lr_lambdas, strict=True)
        ]


class SequentialLR(LRScheduler):
    """One scheduler after the other.

    Args:
        schedulers: the schedulers, of this optimizer.
        milestones: the steps at which the next one begins, one fewer than schedulers.

    Raises:
        ValueError: a scheduler is that of another optimizer, or there are not as many milestones.

    Example:
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> optimizer = SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 1.0)
        >>> parts = [ConstantLR(optimizer, 0.5, 5), ExponentialLR(optimizer, 0.5)]
        >>> scheduler = SequentialLR(optimizer, parts, [2])
        >>> rates = [scheduler.get_last_lr()[0].item()]
        >>> for _ in range(3):
        ...     scheduler.step()
        ...     rates.append(scheduler.get_last_lr()[0].item())
        >>> rates
        [0.5, 0.5, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        for number, each in enumerate(schedulers):
            if each.optimizer is not optimizer:
                raise ValueError(
                    "Sequential Schedulers expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"at index {number} is different from the optimizer passed in."
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers = list(schedulers)
        self.milestones = list(milestones)
        super().__init__(optimizer, last_epoch)

    def _begin(self) -> None:
        assign_add(self.last_epoch, 1.0)
        for rate, base in zip(self._rates, self.base_lrs, strict=True):
            assign(rate, base)
        for each in self._schedulers:
            assign_add(each.last_epoch, -1.0)
        self._schedulers[0].step()

    def step(self, epoch: Any = None) -> None:
        """Let the scheduler whose turn it is set the learning rates of the next step.

        Args:
            epoch: kept.
        """
        assign_add(self.last_epoch, 1.0)
        now = int(self.last_epoch.item())
        turn = bisect_right(self.milestones, now)
        if turn and self.milestones[turn - 1] == now:
            for rate, base in zip(self._rates, self.base_lrs, strict=True):
                assign(rate, base)
            self._schedulers[turn].step(0)
        else:
            self._schedulers[turn].step()


class ReduceLROnPlateau:
    """The rate times a factor when a number stops getting better.

    Args:
        optimizer: an optimizer of `experimental.optim`.
        mode: ``"min"`` where smaller is better, or ``"max"``.
        factor: the factor, below 1.
        patience: how many steps without to wait.
        threshold: by how much the number must be better to count.
        threshold_mode: ``"rel"``: as a part of the best; ``"abs"``.
        cooldown: how many steps to wait after the rate changed.
        min_lr: the smallest rate; a list with one for each group.
        eps: smaller changes of the rate are left out.

    Raises:
        TypeError: `optimizer` is none.
        ValueError: an argument is out of range.

    Example:
        >>> import weft
        >>> from weft.nn.experimental import SGD
        >>> optimizer = SGD([weft.Parameter(weft.Tensor([1.0]), name="p")], 1.0)
        >>> scheduler = ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
        >>> for loss in (3.0, 2.0, 2.0):
        ...     scheduler.step(loss)
        >>> print(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"`mode` should be 'min' or 'max', but got {mode}.")
        self.factor = _real(factor, "factor", "ReduceLROnPlateau")
        if self.factor >= 1.0:
            raise ValueError("The lr factor should be less than 1.0.")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"`threshold mode` should be 'rel' or 'abs', but got {threshold_mode}.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"Expected an `Optimizer`, but got type {type(optimizer).__name__}")
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if isinstance(min_lr, (list, tuple)) and len(min_lr) != count:
            raise ValueError(f"Expected {count} min_lrs, got {len(min_lr)}")
        self.min_lrs = [float(each) for each in _each(min_lr, count, "min_lrs")]
        self.mode = mode
        self.patience = _whole(patience, "patience", "ReduceLROnPlateau")
        self.threshold = _real(threshold, "threshold", "ReduceLROnPlateau")
        self.threshold_mode = threshold_mode
        self.cooldown = _whole(cooldown, "cooldown", "ReduceLROnPlateau")
        self.eps = _real(eps, "eps", "ReduceLROnPlateau")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.best = _number(self.mode_worse, "best")
        self.wait = _number(0, "wait")
        self.cooldown_counter = _number(0, "cooldown_counter")
        self.last_epoch = _number(0, "last_epoch_ReduceLROnPlateau")

    def get_last_lr(self) -> list[Tensor]:
        """The learning rates as they are now, one for each group."""
        return [rate.value() for rate in _rates_of(self.optimizer, len(self.min_lrs))]

    @property
    def in_cooldown(self) -> Any:
        """Whether the rate changed a short while ago: a Tensor of one bool."""
        return self.cooldown_counter > 0.0

    def _better(self, value: Any) -> Any:
        down = self.mode == "min"
        if self.threshold_mode == "rel":
            bound = self.best * (1.0 - self.threshold if down else 1.0 + self.threshold)
        else:
            bound = self.best + (-self.threshold if down else self.threshold)
        return value < bound if down else value > bound

    def step(self, metrics: Any) -> None:
        """Compare a number with the best so far, and set the learning rates.

        Args:
            metrics: the number: a float, or a Tensor of one.
        """
        value = metrics if isinstance(metrics, Tensor) else Tensor(float(metrics), dtypes.float32)
        value = value.astype(dtypes.float32).reshape(())
        assign_add(self.last_epoch, 1.0)
        better = self._better(value)
        cooling = self.in_cooldown
        assign(self.best, where(better, value, self.best))
        waited = where(better, 0.0, self.wait + 1.0)
        waited = where(cooling, 0.0, waited)
        reduces = waited > float(self.patience)
        left = where(cooling, self.cooldown_counter - 1.0, self.cooldown_counter)
        assign(self.cooldown_counter, where(reduces, float(self.cooldown), left))
        assign(self.wait, where(reduces, 0.0, waited))
        for rate, least in zip(_rates_of(self.optimizer, len(self.min_lrs)), self.min_lrs, strict=True):
            smaller = rate * self.factor
            smaller = where(smaller > least, smaller, least)
            changes = reduces.logical_and(rate - smaller > self.eps)
            assign(rate, where(changes, smaller, rate))
