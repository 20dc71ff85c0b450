"""Schedulers: what changes the learning rates of optimizers that keep their parameters in groups."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, ParamSpec

from weft import dtypes
from weft.core import Parameter, Tensor
from weft.nn.declared import Check, Described, constructor, integer, keep
from weft.nn.experimental.optimizer import Optimizer, rate_of
from weft.ops._checks import one_of, reals
from weft.ops.elementwise import floor
from weft.ops.select import where
from weft.ops.state import assign, assign_add
from weft.ops.trigonometry import cos

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR",
]  # fmt: skip

_P = ParamSpec("_P")


def _single(value: Any) -> Tensor:
    return Tensor(float(value), dtypes.float32)


def _number(value: float, name: str) -> Parameter:
    return Parameter(_single(value), name=name, requires_grad=False)


def _real(scheduler: str, what: str, value: Any) -> float:
    reals(scheduler, **{what: value})
    return float(value)


def _count(scheduler: str, what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{scheduler}: {what} must be a positive int, not {value!r}")
    return value


#: how settings are checked, by their annotation in the constructor
_CHECKS: Final[dict[str, Check]] = {"int": integer, "float": _real}


def _each(value: Any, count: int, what: str) -> list[Any]:
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(f"Expected {count} {what}, but got {len(value)}")
        return list(value)
    return [value] * count


class _OfGroups(Described):
    """Base of what changes the rates of the groups that an optimizer has at that time, not of those that come later.

    Args:
        optimizer: an optimizer of `experimental.optim`.
        gamma: the factor.
        total_iters: after how many steps.
        eta_min: the smallest rate.
        last_epoch: the last step that was done; -1 to begin.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range, or there is not one for each group.
    """

    optimizer: Optimizer
    groups_num: int

    if TYPE_CHECKING:  # settings are attributes

        def __getattr__(self, name: str) -> Any: ...

    @property
    def _rates(self) -> list[Parameter]:
        groups = self.optimizer.param_groups[: self.groups_num]
        for number, group in enumerate(groups):
            if not isinstance(group["lr"], Parameter):  # the program replaced it
                group["lr"] = rate_of(group["lr"], f"learning_rate_group_{number}")
        return [group["lr"] for group in groups]

    def get_last_lr(self) -> list[Tensor]:
        """The learning rates as they are now, one for each group."""
        return [rate.value() for rate in self._rates]

    def _set(self, rates: Sequence[Any]) -> None:
        for rate, value in zip(self._rates, rates, strict=True):
            assign(rate, value if isinstance(value, Tensor) else _single(value))

    def _begin(self) -> None:
        """Make the state, as soon as the settings are there."""
        raise NotImplementedError


def _declares(**checks: Check) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """Make a constructor of an empty one: settings become attributes, checked by their annotations or as it says here,
    then the state is made. A class may define `_made`, which finds the settings as they were given.
    """

    def build(self: _OfGroups, owner: Any, given: dict[str, Any]) -> None:
        self.optimizer = given.pop("optimizer")
        if not isinstance(self.optimizer, Optimizer):
            raise TypeError(f"{type(self.optimizer).__name__} is not an Optimizer")
        self.groups_num = len(self.optimizer.param_groups)
        kinds = owner._declared
        known = {what: _CHECKS[kinds[what]] for what in given if kinds[what] in _CHECKS}
        keep(self, owner, given, known | checks)
        self._begin()

    return constructor(build)


class LRScheduler(_OfGroups):
    """Base of the schedulers: `step` sets the learning rate of each group to what `get_lr` gives.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range, or there is not one for each group.
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
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(scheduler.get_last_lr()[0].item(), 4))
        ...     scheduler.step()
        >>> rates
        {}
    """

    #: a number until the state is made
    last_epoch: Any

    @_declares()
    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None: ...

    def _begin(self) -> None:
        if self.last_epoch < -1:
            raise ValueError(f"Invalid last_epoch: {self.last_epoch}")
        for number, group in enumerate(self.optimizer.param_groups):
            if self.last_epoch == -1:
                group.setdefault("initial_lr", Tensor(group["lr"].asnumpy()))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming an optimizer"
                )
        self.base_lrs = [group["initial_lr"] for group in self.optimizer.param_groups]
        self.last_epoch = _number(self.last_epoch, f"last_epoch_{type(self).__name__}")
        self._first_step()

    def _first_step(self) -> None:
        """The step that sets the first rates."""
        self.step()

    @property
    def _last_lr(self) -> list[Tensor]:
        """The learning rates before the step, for the `get_lr` of a subclass."""
        return self.get_last_lr()

    def get_lr(self) -> list[Any]:
        """The learning rates of the step `last_epoch`, one for each group: what a subclass gives."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr(self)")

    def step(self, epoch: Any = None) -> None:
        """Set the learning rates of the next step.

        Args:
            epoch: the step; the next one, if not given.
        """
        if epoch is None:
            assign_add(self.last_epoch, 1.0)
        else:
            assign(self.last_epoch, _single(epoch))
        self._set(self.get_lr())

    def _at_first(self, first: float, later: Any) -> Any:
        """A number in the first step, and another one in those behind it."""
        return where(self.last_epoch == 0.0, first, later)


class _ByFactor(LRScheduler):
    """Base of the schedulers that multiply all rates in a step by one factor."""

    def _factor(self) -> Any:
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        factor = self._factor()
        return [rate * factor for rate in self._rates]


class StepLR(_ByFactor, shows=("0.5", "2, 0.5", "[0.5, 0.5, 0.25, 0.25]")):
    """The rate times `gamma` every so many steps.

    Args:
        step_size: how many.
    """

    @_declares()
    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None: ...

    def _factor(self) -> Any:
        return self._at_first(1.0, where(self.last_epoch % float(self.step_size) == 0.0, self.gamma, 1.0))


class MultiStepLR(_ByFactor, shows=("0.5", "[2], 0.5", "[0.5, 0.5, 0.25, 0.25]")):
    """The rate times `gamma` at certain steps.

    Args:
        milestones: the steps.
    """

    @_declares()
    def __init__(
        self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None: ...

    def _made(self) -> None:
        given = self.milestones
        if not isinstance(given, list):
            raise TypeError(f"MultiStepLR: milestones must be a list, not {type(given).__name__}")
        self.milestones: Any = Counter(integer("MultiStepLR", "milestones", each) for each in given)

    def _factor(self) -> Any:
        factor: Any = 1.0
        for step, count in self.milestones.items():
            factor = where(self.last_epoch == float(step), self.gamma**count, 1.0) * factor
        return factor


def _refuse_beyond(scheduler: str, **factors: float) -> None:
    for what, factor in factors.items():
        if not 0 <= factor <= 1:
            raise ValueError(f"{scheduler}: {what} must be between 0 and 1, not {factor}")


class ConstantLR(_ByFactor, shows=("0.5", "0.5, 2", "[0.25, 0.25, 0.5, 0.5]")):
    """A part of the rate, until so many steps are done.

    Args:
        factor: the part, from 0 to 1.
        total_iters: how many.
    """

    @_declares()
    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None: ...

    def _made(self) -> None:
        _refuse_beyond("ConstantLR", factor=self.factor)

    def _factor(self) -> Any:
        back = 1.0 / self.factor if self.factor else math.inf
        return self._at_first(self.factor, where(self.last_epoch == float(self.total_iters), back, 1.0))


class LinearLR(_ByFactor, shows=("1.0", "0.5, 1.0, 2", "[0.5, 0.75, 1.0, 1.0]")):
    """The rate from one part of it to another, along a line.

    Args:
        start_factor: the first part, above 0, to 1.
        end_factor: the last part, from 0 to 1.
    """

    @_declares()
    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None: ...

    def _made(self) -> None:
        _refuse_beyond("LinearLR", start_factor=self.start_factor, end_factor=self.end_factor)
        if self.start_factor == 0:
            raise ValueError("LinearLR: start_factor must be greater than 0")

    def _factor(self) -> Any:
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1.0) * rise
        later = where(self.last_epoch > float(self.total_iters), 1.0, 1.0 + rise / before)
        return self._at_first(self.start_factor, later)


class ExponentialLR(_ByFactor, shows=("1.0", "0.5", "[1.0, 0.5, 0.25, 0.125]")):
    """The rate times `gamma` in each step."""

    @_declares()
    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None: ...

    def _factor(self) -> Any:
        return self._at_first(1.0, self.gamma)


class PolynomialLR(LRScheduler, shows=("1.0", "4, 2.0", "[1.0, 0.5625, 0.25, 0.0625]")):
    """The rate to 0, as a power of the part of the steps that is left.

    Args:
        power: the power.
    """

    @_declares()
    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None: ...

    def get_lr(self) -> list[Any]:
        step = where(self.last_epoch < float(self.total_iters), self.last_epoch, float(self.total_iters))
        left = (1.0 - step / float(self.total_iters)) ** self.power
        return [base * left for base in self.base_lrs]


def _along_cosine(bases: Sequence[Any], least: float, angle: Any) -> list[Any]:
    """The way of rates from their bases down to the least one, which they come to at the angle pi."""
    height = (1.0 + cos(angle)) / 2.0
    return [least + (base - least) * height for base in bases]


class CosineAnnealingLR(LRScheduler, shows=("1.0", "2", "[1.0, 0.5, 0.0, 0.5]")):
    """The rate down to `eta_min` and up again, along a cosine.

    Args:
        T_max: how many steps lead down.
    """

    @_declares()
    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None: ...

    def get_lr(self) -> list[Any]:
        return _along_cosine(self.base_lrs, self.eta_min, self.last_epoch * (math.pi / self.T_max))


class CosineAnnealingWarmRestarts(LRScheduler, shows=("1.0", "2", "[1.0, 0.5, 1.0, 0.5]")):
    """The rate down to `eta_min` along a cosine, again and again.

    Args:
        T_0: how many steps the first time, at least 1.
        T_mult: how many times as many each next time, at least 1.
    """

    @_declares(T_0=_count, T_mult=_count)
    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None: ...

    def _made(self) -> None:
        self.T_i = _number(self.T_0, "T_i")
        self.T_cur = _number(self.last_epoch, "T_cur")

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
            assign(self.T_cur, _single(current))
            assign(self.T_i, _single(period))
            assign(self.last_epoch, _single(math.floor(epoch)))
        self._set(_along_cosine(self.base_lrs, self.eta_min, self.T_cur * math.pi / self.T_i))


class CyclicLR(LRScheduler, shows=("1.0", "0.5, 1.0, 2", "[0.5, 0.75, 1.0, 0.75]")):
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
    """

    @_declares()
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
    ) -> None: ...

    def _made(self) -> None:
        count = self.groups_num
        self._lower = [_single(each) for each in _each(self.base_lr, count, "values for base_lr")]
        self.max_lrs = [_single(each) for each in _each(self.max_lr, count, "values for max_lr")]
        if self.scale_fn is None:
            if self.mode not in ("triangular", "triangular2", "exp_range"):
                raise ValueError("mode is invalid and scale_fn is None")
            if self.mode == "exp_range":
                self.scale_mode = "iterations"
        up = down = self.step_size_up
        if self.step_size_down is not None:
            down = integer("CyclicLR", "step_size_down", self.step_size_down)
        self.total_step_size = float(up + down)
        self.step_up_ratio = up / self.total_step_size
        if self.last_epoch == -1:
            self._set(self._lower)
            for group, lower in zip(self.optimizer.param_groups, self._lower, strict=True):
                group["initial_lr"] = lower

    def _first_step(self) -> None:
        super()._first_step()
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


class LambdaLR(LRScheduler, shows=("1.0", "lambda step: 0.5**step", "[1.0, 0.5, 0.25, 0.125]")):
    """The first rate times what a function gives for the step.

    Args:
        lr_lambda: called with the step (a Tensor), gives the factor; a list with one for each group.
    """

    @_declares()
    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None: ...

    def _made(self) -> None:
        self.lr_lambdas = _each(self.lr_lambda, self.groups_num, "lr_lambdas")

    def get_lr(self) -> list[Any]:
        step = self.last_epoch.value()
        return [base * function(step) for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)]


class MultiplicativeLR(LambdaLR, shows=("1.0", "lambda step: 0.5", "[1.0, 0.5, 0.25, 0.125]")):
    """The rate times what a function gives for the step."""

    def get_lr(self) -> list[Any]:
        step = self.last_epoch.value()
        return [
            rate * self._at_first(1.0, function(step))
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

    def _first_step(self) -> None:
        assign_add(self.last_epoch, 1.0)
        self._set(self.base_lrs)
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
            self._set(self.base_lrs)
            self._schedulers[turn].step(0)
        else:
            self._schedulers[turn].step()


class ReduceLROnPlateau(_OfGroups):
    """The rate times a factor when a number stops getting better.

    Args:
        mode: ``"min"`` where smaller is better, or ``"max"``.
        factor: the factor, below 1.
        patience: how many steps without to wait.
        threshold: by how much the number must be better to count.
        threshold_mode: ``"rel"``: as a part of the best; ``"abs"``.
        cooldown: how many steps to wait after the rate changed.
        min_lr: the smallest rate; a list with one for each group.
        eps: smaller changes of the rate are left out.

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

    @_declares()
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
    ) -> None: ...

    def _made(self) -> None:
        name = "ReduceLROnPlateau"
        one_of(name, ("min", "max"), mode=self.mode)
        one_of(name, ("rel", "abs"), threshold_mode=self.threshold_mode)
        if self.factor >= 1.0:
            raise ValueError("The lr factor should be less than 1.0.")
        self.min_lrs = [float(each) for each in _each(self.min_lr, self.groups_num, "min_lrs")]

    def _begin(self) -> None:
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.best = _number(self.mode_worse, "best")
        self.wait = _number(0, "wait")
        self.cooldown_counter = _number(0, "cooldown_counter")
        self.last_epoch = _number(0, "last_epoch_ReduceLROnPlateau")

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
        value = metrics if isinstance(metrics, Tensor) else _single(metrics)
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
        for rate, least in zip(self._rates, self.min_lrs, strict=True):
            smaller = rate * self.factor
            smaller = where(smaller > least, smaller, least)
            changes = reduces.logical_and(rate - smaller > self.eps)
            assign(rate, where(changes, smaller, rate))
