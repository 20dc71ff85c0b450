"""Training: the loop around a network, its callbacks and metrics, mixed precision, and checkpoints.

Stands on `nn`; nothing below knows of it.
"""

from typing import TYPE_CHECKING

from weft import lazily
from weft.train.amp import (
    DynamicLossScaler,
    LossScaler,
    StaticLossScaler,
    all_finite,
    auto_mixed_precision,
    build_train_network,
    custom_mixed_precision,
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
from weft.train.loading import load_checkpoint, load_param_into_net
from weft.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from weft.train.metrics import (
    F1,
    MAE,
    MSE,
    ROC,
    Accuracy,
    Fbeta,
    Loss,
    Metric,
    Precision,
    Recall,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
    auc,
    get_metric_fn,
    get_metrics,
    names,
    rearrange_inputs,
)  # fmt: skip
from weft.train.model import Model
from weft.train.serialization import save_checkpoint, wait_for_checkpoints
from weft.train.summary import SummaryCollector, SummaryRecord

if TYPE_CHECKING:
    from weft.train.converting import (
        async_ckpt_thread_status,
        ckpt_to_safetensors,
        load_checkpoint_async,
        safetensors_to_ckpt,
    )
    from weft.train.counted_metrics import ConfusionMatrix, ConfusionMatrixMetric
    from weft.train.distributed import load_distributed_checkpoint, save_distributed_checkpoint
    from weft.train.interruption import BackupAndRestore, ReduceLROnPlateau
    from weft.train.likeness_metrics import BleuScore, CosineSimilarity, OcclusionSensitivity, Perplexity
    from weft.train.surface_metrics import Dice, HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance
    from weft.train.transforming import (
        build_searched_strategy,
        get_ckpt_path_with_strategy,
        load_segmented_checkpoints,
        merge_pipeline_strategys,
        merge_sliced_parameter,
        rank_list_for_transform,
        restore_group_info_list,
        save_param_strategy_file,
        transform_checkpoint_by_rank,
        transform_checkpoints,
        unified_safetensors,
    )
else:
    __getattr__, __dir__ = lazily.lazily(
        __name__,
        {
            "weft.train.converting": (
                "async_ckpt_thread_status ckpt_to_safetensors load_checkpoint_async safetensors_to_ckpt"
            ),
            "weft.train.distributed": "load_distributed_checkpoint save_distributed_checkpoint",
            "weft.train.transforming": (
                "build_searched_strategy get_ckpt_path_with_strategy load_segmented_checkpoints "
                "merge_pipeline_strategys merge_sliced_parameter rank_list_for_transform restore_group_info_list "
                "save_param_strategy_file transform_checkpoint_by_rank "
                "transform_checkpoints unified_safetensors"
            ),
            "weft.train.interruption": "BackupAndRestore ReduceLROnPlateau",
            "weft.train.counted_metrics": "ConfusionMatrix ConfusionMatrixMetric",
            "weft.train.likeness_metrics": "BleuScore CosineSimilarity OcclusionSensitivity Perplexity",
            "weft.train.surface_metrics": "Dice HausdorffDistance MeanSurfaceDistance RootMeanSquareDistance",
        },
    )

__all__ = [
    "Model", "DatasetHelper", "connect_network_with_dataset", "data_sink",
    "Callback", "CheckpointConfig", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler",
    "LossMonitor", "ModelCheckpoint",
    "RunContext", "TimeMonitor",
    "Accuracy", "F1", "Loss", "MAE", "MSE", "Metric", "Precision", "Recall", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "ROC", "auc", "get_metric_fn", "get_metrics", "names",
    "rearrange_inputs",
    "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity", "Dice", "Fbeta", "HausdorffDistance",
    "MeanSurfaceDistance", "OcclusionSensitivity", "Perplexity", "RootMeanSquareDistance",
    "DynamicLossScaleManager", "DynamicLossScaler", "FixedLossScaleManager", "LossScaleManager", "StaticLossScaler",
    "all_finite", "auto_mixed_precision", "get_black_list", "get_white_list",
    "load_checkpoint", "load_param_into_net", "save_checkpoint", "wait_for_checkpoints",
    "SummaryCollector", "SummaryRecord",
    "BackupAndRestore", "ReduceLROnPlateau",
    "async_ckpt_thread_status", "ckpt_to_safetensors", "load_checkpoint_async", "safetensors_to_ckpt",
    "LossScaler", "build_train_network", "custom_mixed_precision",
    "build_searched_strategy", "get_ckpt_path_with_strategy", "load_distributed_checkpoint",
    "load_segmented_checkpoints", "merge_pipeline_strategys",
    "merge_sliced_parameter", "rank_list_for_transform", "restore_group_info_list", "save_distributed_checkpoint",
    "save_param_strategy_file", "transform_checkpoint_by_rank", "transform_checkpoints", "unified_safetensors",
]  # fmt: skip
