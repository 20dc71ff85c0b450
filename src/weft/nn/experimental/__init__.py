"""`mindspore.experimental.optim`: optimizers that keep their parameters in groups, and what changes their rates."""

from weft.nn.experimental import lr_scheduler
from weft.nn.experimental.optimizer import Optimizer
from weft.nn.experimental.rules import ASGD, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop, Rprop

__all__ = [
    "ASGD", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop",
    "lr_scheduler",
]  # fmt: skip
