"""Training: the loop around a network, its callbacks and metrics, mixed precision, and checkpoints.

Stands on `nn`; nothing below knows of it.
"""

from weft.train.amp import (
    DynamicLossScaler,
    StaticLossScaler,
    all_finite,
    auto_mixed_precision,
    get_black_list,
    get_white_list,
)  # fmt: skip
from weft.train.callback import (
    Callback,
    CheckpointConfig,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    ModelCheckpoint,
    RunContext,
    TimeMonitor,
)  # fmt: skip
from weft.train.feeding import DatasetHelper, connect_network_with_dataset, data_sink
from weft.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from weft.train.metrics import (
    F1,
    MAE,
    MSE,
    ROC,
    Accuracy,
    Loss,
    Metric,
    Precision,
    Recall,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
    auc,
    get_metric_fn,
    names,
    rearrange_inputs,
)  # fmt: skip
from weft.train.model import Model
from weft.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint, wait_for_checkpoints
from weft.train.summary import SummaryCollector, SummaryRecord

__all__ = [
    "Model", "DatasetHelper", "connect_network_with_dataset", "data_sink",
    "Callback", "CheckpointConfig", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler",
    "LossMonitor", "ModelCheckpoint",
    "RunContext", "TimeMonitor",
    "Accuracy", "F1", "Loss", "MAE", "MSE", "Metric", "Precision", "Recall", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "ROC", "auc", "get_metric_fn", "names", "rearrange_inputs",
    "DynamicLossScaleManager", "DynamicLossScaler", "FixedLossScaleManager", "LossScaleManager", "StaticLossScaler",
    "all_finite", "auto_mixed_precision", "get_black_list", "get_white_list",
    "load_checkpoint", "load_param_into_net", "save_checkpoint", "wait_for_checkpoints",
    "SummaryCollector", "SummaryRecord",
]  # fmt: skip
