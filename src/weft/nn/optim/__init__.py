"""Optimizers: one class each on the shared step of `weft.nn.optim.optimizer`."""

from weft.nn.optim.adam import Adam, AdaMax, AdamWeightDecay, Lamb
from weft.nn.optim.adaptive import FTRL, Adadelta, Adagrad, RMSProp
from weft.nn.optim.lars import LARS
from weft.nn.optim.momentum import SGD, Momentum
from weft.nn.optim.optimizer import Optimizer
from weft.nn.optim.seldom import ASGD, AdaFactor, AdamOffload, LazyAdam, ProximalAdagrad, Rprop

__all__ = [
    "Adadelta", "Adagrad", "AdaMax", "Adam", "AdamWeightDecay", "FTRL", "LARS", "Lamb", "Momentum", "Optimizer",
    "RMSProp", "SGD", "ASGD", "AdaFactor", "AdamOffload", "LazyAdam", "ProximalAdagrad", "Rprop",
]  # fmt: skip
