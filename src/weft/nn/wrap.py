"""Cells that train: loss, gradients and the optimizer's step around a network."""

from __future__ import annotations

from typing import Any

from weft import dtypes
from weft.autodiff.grad import GradFunction, GradOperation
from weft.context import ParallelMode, get_auto_parallel_context
from weft.core import Parameter, Tensor, transparent
from weft.core.parameters import ParameterTuple
from weft.nn.cell import Cell
from weft.nn.declared import Described
from weft.nn.parallel import DistributedGradReducer
from weft.ops._checks import bools
from weft.ops.state import assign
from weft.parallel.spreading import batch, keep_whole


class _Around(Described, Cell):
    """Base: a cell around a network, whose parameters keep their names.

    Args:
        loss_fn: called with the network's output and the label.
    """

    _example = """
        >>> import weft
        >>> from weft import nn
        >>> net = {name}({}, nn.MSELoss())
        >>> print(net(weft.Tensor([[1.0]]), weft.Tensor([[3.0]])){})
        {}
    """

    def __init__(self, network: Cell, what: str = "network") -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise TypeError(f"{type(self).__name__}: {what} must be a Cell, not {type(network).__name__}")


class WithLossCell(_Around, shows=("nn.Identity()", "", "4.0")):
    """A network and its loss: ``(data, label)`` in, loss out.

    Args:
        backbone: the network.
    """

    def __init__(self, backbone: Cell, loss_fn: Any) -> None:
        super().__init__(backbone, "backbone")
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class WithEvalCell(_Around, shows=("nn.Identity()", "[0]", "4.0")):
    """A network and its loss for evaluation: ``(data, label)`` in, loss, output and label out.

    Args:
        network: the network.
        loss_fn: called with the output and the label; None for no loss.
        add_cast_fp32: cast output and label to float32 before the loss.
    """

    def __init__(self, network: Cell, loss_fn: Any, add_cast_fp32: bool = False) -> None:
        super().__init__(network)
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = bool(add_cast_fp32)

    def construct(self, data: Any, label: Any) -> Any:
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs = outputs.astype(dtypes.float32)
            label = label.astype(dtypes.float32) if label.dtype.is_floating else label
        loss = None if self._loss_fn is None else self._loss_fn(outputs, label)
        return loss, outputs, label


class WithGradCell(_Around, shows=('nn.Dense(1, 1, "ones", "zeros")', "[0]", "[[-4.]]")):
    """The gradients of a network's loss with respect to its trained parameters.

    Args:
        network: the network; with `loss_fn` None it returns the loss itself.
        sens: gradient with respect to the loss; None is 1.
    """

    def __init__(self, network: Cell, loss_fn: Any = None, sens: Any = None) -> None:
        super().__init__(network)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = GradOperation(get_by_list=True, sens_param=sens is not None)
        self.sens = sens
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs: Any) -> Any:
        sens = () if self.sens is None else (self.sens,)
        return self.grad(self.network_with_loss, self.weights)(*inputs, *sens)


class ForwardValueAndGrad(Cell):
    """A network's output and its gradients.

    Args:
        network: the network.
        weights: parameters to differentiate, with `get_by_list`.
        get_all: differentiate all inputs.
        get_by_list: differentiate `weights`.
        sens_param: the last input is the gradient with respect to the output.

    Example:
        >>> import weft
        >>> from weft import nn
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> value, grads = ForwardValueAndGrad(net, net.trainable_params(), get_by_list=True)(weft.Tensor([[2.0]]))
        >>> print(value, grads[0])
        [[2.]] [[2.]]
    """

    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise TypeError(f"ForwardValueAndGrad: network must be a Cell or function, not {type(network).__name__}")
        if get_by_list and weights is None:
            if not isinstance(network, Cell):
                raise TypeError("ForwardValueAndGrad(get_by_list=True) of a function needs weights=...")
            weights = network.trainable_params()
        bools("ForwardValueAndGrad", get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)
        self.network = network
        if isinstance(network, Cell):
            network.set_grad()
        self.weights = ParameterTuple(weights) if isinstance(weights, (list, tuple)) else weights
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param
        self.grad = GradOperation(get_all, get_by_list, sens_param)

    def construct(self, *inputs: Any) -> Any:
        value = self.network(*(inputs[:-1] if self.sens_param else inputs))
        weights = (self.weights,) if self.get_by_list else ()
        return value, self.grad(self.network, *weights)(*inputs)


def _same(gradients: Any) -> Any:
    return gradients


class TrainOneStepCell(_Around):
    """One step of training: loss, gradients, update; returns the loss.

    Args:
        network: a network that returns the loss.
        optimizer: updates the parameters it was made with.
        sens: gradient with respect to the loss (a loss scale).
        return_grad: also return the gradients, by parameter name.

    Example:
        >>> import weft
        >>> from weft import nn
        >>> net = nn.Dense(1, 1, "ones", "zeros")
        >>> step = TrainOneStepCell(WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.25))
        >>> print(step(weft.Tensor([[1.0]]), weft.Tensor([[0.0]])), net.weight.value())
        1.0 [[0.5]]
    """

    def __init__(self, network: Cell, optimizer: Any, sens: Any = 1.0, return_grad: bool = False) -> None:
        super().__init__(network)
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        # for subclasses that write out the step: self.grad(self.network, self.weights)(*inputs, sens)
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        self.sens = 1.0 if sens is None else float(sens)
        self.return_grad = bool(return_grad)
        trained = {id(param) for param in self.weights}
        self._untrained = tuple([param for param in network.get_parameters() if id(param) not in trained])
        self.sense_flag = False
        self.parallel_mode = get_auto_parallel_context("parallel_mode")
        self.reducer_flag = self.parallel_mode in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)
        self.grad_reducer: Any = DistributedGradReducer(self.weights) if self.reducer_flag else _same

    def construct(self, *inputs: Any) -> Any:
        loss, grads = loss_and_gradients(self.network, self.weights, inputs, self.sens)
        keep_whole(self._untrained)
        grads = self.grad_reducer(grads)
        self.optimizer(grads)
        if self.return_grad:
            return loss, {param.name: grad for param, grad in zip(self.weights, grads, strict=True)}
        return loss


@transparent
def loss_and_gradients(network: Any, weights: Any, inputs: tuple[Any, ...], scale: Any) -> tuple[Any, Any]:
    """The loss of a network, and the gradients of the loss times a scale.

    Args:
        network: returns the loss, or a tuple of losses.
        weights: parameters to differentiate.
        inputs: the network's inputs.
        scale: a number, or a tensor.
    """
    weights, inputs = tuple(weights), batch(inputs)
    if scale.__class__ is float and scale == 1.0:
        return GradFunction(network, None, False, weights, with_value=True)(*inputs)

    def scaled(*args: Any) -> Any:
        loss = network(*args)
        if isinstance(loss, (tuple, list)):
            return tuple([part * scale for part in loss]), loss
        return loss * scale, loss

    grads, (loss,) = GradFunction(scaled, None, False, weights, has_aux=True)(*inputs)
    return loss, grads


class ParameterUpdate(Cell):
    """Writes a value into a parameter.

    Args:
        param: the parameter.

    Example:
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = ParameterUpdate(p)(weft.Tensor([2.0]))
        >>> print(p.value())
        [2.]
    """

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise TypeError(f"ParameterUpdate takes a Parameter, not {type(param).__name__}")
        self._param = param

    def construct(self, x: Tensor) -> Any:
        return assign(self._param, x)
