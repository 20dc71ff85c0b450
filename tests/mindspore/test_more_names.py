"""Names at the root of MindSpore that are a word for something else, and where they are found."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import nn
from weft.core.tensor import Parameter, Tensor

NAMES = {
    "mindspore": (
        "Accuracy BackupAndRestore BleuScore ConfusionMatrix ConfusionMatrixMetric CosineSimilarity Dice Event F1 "
        "Fbeta HausdorffDistance Loss MAE MSE MeanSurfaceDistance Metric OcclusionSensitivity OnRequestExit Perplexity "
        "Precision ROC Recall ReduceLROnPlateau RootMeanSquareDistance Stream StreamCtx Top1CategoricalAccuracy "
        "Top5CategoricalAccuracy TopKCategoricalAccuracy async_ckpt_thread_status auc build_train_network byte "
        "ckpt_to_safetensors communication_stream current_stream default_stream dispatch_threads_num empty_cache "
        "frombuffer get_level get_log_config get_metric_fn get_py_obj_dtype intc intp is_tensor launch_blocking "
        "load_checkpoint_async max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats "
        "memory_summary names rearrange_inputs reset_max_memory_allocated reset_max_memory_reserved "
        "reset_peak_memory_stats safetensors_to_ckpt set_cpu_affinity set_cur_stream set_dump set_kernel_launch_group "
        "set_memory single swap_tensors synchronize ubyte uintc uintp ushort build_searched_strategy "
        "load_distributed_checkpoint load_segmented_checkpoints merge_pipeline_strategys merge_sliced_parameter "
        "rank_list_for_transform restore_group_info_list transform_checkpoint_by_rank transform_checkpoints "
        "unified_safetensors sync_pipeline_shared_parameters"
    ),
    "mindspore.parallel.checkpoint_transform": "sync_pipeline_shared_parameters",
    "mindspore.train": "OnRequestExit ReduceLROnPlateau export load build_train_network Fbeta ckpt_to_safetensors",
    "mindspore.train.callback": "BackupAndRestore OnRequestExit ReduceLROnPlateau",
    "mindspore.amp": "LossScaler custom_mixed_precision",
    "mindspore.nn": (
        "ASGD AdaFactor AvgPool1dExt AvgPool2dExt AvgPool3dExt Dropout2dExt DropoutExt EmbeddingExt L1LossExt "
        "LayerNormExt LogSoftmaxExt MaxPool2dExt PReLUExt get_metrics no_init_parameters Transformer BleuScore"
    ),
    "mindspore.nn.metrics": "Perplexity BleuScore",
    "mindspore.train.serialization": (
        "ckpt_to_safetensors load_checkpoint_async build_searched_strategy load_distributed_checkpoint "
        "merge_sliced_parameter restore_group_info_list"
    ),
    "mindspore.parallel": (
        "build_searched_strategy load_distributed_checkpoint load_segmented_checkpoints merge_pipeline_strategys "
        "merge_sliced_parameter rank_list_for_transform restore_group_info_list transform_checkpoint_by_rank "
        "transform_checkpoints unified_safetensors"
    ),
}


@pytest.mark.parametrize("module", NAMES)
def test_names_are_where_mindspore_has_them(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in NAMES[module].split() if not hasattr(found, name)] == []


def test_tensors_are_swapped() -> None:
    import mindspore as ms

    a, b = Tensor([1, 2]), Tensor([3.0])
    ms.swap_tensors(a, b)
    np.testing.assert_array_equal(a, [3.0])
    assert (a.dtype, b.dtype, b.shape) == (weft.float32, weft.int64, (2,))
    p = Parameter(Tensor([1.0]), name="p", requires_grad=False)
    q = Parameter(Tensor([2, 3]), name="q")
    call = weft.jit(lambda: p * 2)
    np.testing.assert_array_equal(call(), [2.0])
    ms.swap_tensors(p, q)
    np.testing.assert_array_equal(call(), [4, 6])
    assert (p.name, p.dtype, p.requires_grad) == ("q", weft.int64, True)
    assert (q.name, q.dtype, q.requires_grad) == ("p", weft.float32, False)
    with pytest.raises(RuntimeError, match="Parameter"):
        ms.swap_tensors(p, a)
    with pytest.raises(TypeError, match="tensors"):
        ms.swap_tensors(p, 3)


def test_buffers_become_tensors() -> None:
    import mindspore as ms

    data = bytearray(np.array([1, 2, 3], np.int16).tobytes())
    shared = ms.frombuffer(data, ms.int16)
    np.testing.assert_array_equal(shared, [1, 2, 3])
    np.testing.assert_array_equal(ms.frombuffer(bytes(data), ms.int16, count=1, offset=2), [2])
    data[0] = 7
    np.testing.assert_array_equal(shared, [7, 2, 3])
    bad: list[dict[str, Any]] = [{"count": 0}, {"count": -2}, {"offset": 6}, {"offset": 1}, {"count": 4}]
    for settings in bad:
        with pytest.raises(RuntimeError, match="frombuffer"):
            ms.frombuffer(data, ms.int16, **settings)


def test_small_helpers() -> None:
    import mindspore as ms

    assert ms.is_tensor(Parameter(Tensor([1.0])))
    assert not ms.is_tensor(np.ones(1))
    assert ms.get_py_obj_dtype(True) is ms.bool_
    assert ms.set_dump(nn.ReLU()) is None
    for wrong in ((3,), (nn.ReLU(), 1)):
        with pytest.raises(TypeError, match="set_dump"):
            ms.set_dump(*wrong)
    assert ms.get_log_config()["GLOG_v"] == ms.get_level()
    assert (ms.byte, ms.uintp, ms.single) == (ms.int8, ms.uint64, ms.float32)
    assert ms.nn.DropoutExt(0.0)(Tensor([1.0])).shape == (1,)
