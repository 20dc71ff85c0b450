"""Layouts, settings of the search for strategies, helpers for the settings of parallel programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import weft
from weft import context
from weft.context import get_auto_parallel_context, reset_auto_parallel_context, set_auto_parallel_context
from weft.errors import Unsupported
from weft.parallel import algorithms, modes
from weft.parallel.layout import Layout
from weft.parallel.settings import auto_parallel_context


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    reset_auto_parallel_context()
    algorithms.reset_algo_parameters()


def test_a_layout_names_axes_from_the_last() -> None:
    layout = Layout((2, 4), ("dp", "mp"))
    assert layout("dp", "mp").to_dict() == {
        "device_matrix": (2, 4),
        "tensor_map": (1, 0),
        "interleaved_parallel": False,
        "alias_name": ("dp", "mp"),
        "rank_list": [0, 1, 2, 3, 4, 5, 6, 7],
    }
    assert layout(("dp", "mp"), "None").to_dict()["tensor_map"] == ((1, 0), -1)
    with pytest.raises(ValueError, match="call the layout"):
        layout.to_dict()


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (([2], ("a",)), TypeError),
        (((2,), ["a"]), TypeError),
        (((2, 2), ("a",)), ValueError),
        (((2, 2), ("a", "a")), ValueError),
        (((2,), ("a",), [0]), ValueError),
        (((2,), ("a",), (0, 1)), TypeError),
        ((("x",), ("a",)), TypeError),
    ],
)
def test_wrong_layouts(args: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        Layout(*args)


def test_an_axis_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="'x'"):
        Layout((2,), ("a",))("x")


def test_settings_of_the_search() -> None:
    algorithms.set_algo_parameters(fully_use_devices=True, tensor_slice_align_size=32)
    assert algorithms.get_algo_parameters("fully_use_devices") is True
    assert algorithms.get_algo_parameters("tensor_slice_align_size") == 32
    algorithms.reset_algo_parameters()
    assert algorithms.get_algo_parameters("tensor_slice_align_size") == 16
    for call in (algorithms.set_algo_parameters, lambda nonesuch: algorithms.get_algo_parameters("nonesuch")):
        with pytest.raises(ValueError, match="nonesuch"):
            call(nonesuch=1)
    with pytest.raises(TypeError, match="bool"):
        algorithms.set_algo_parameters(fully_use_devices=1)


def test_helpers_say_what_the_settings_say() -> None:
    assert (modes.get_device_num(), modes.get_global_rank(), modes.get_gradients_mean()) == (1, 0, False)
    assert modes.get_parallel_mode() == "stand_alone"
    set_auto_parallel_context(parallel_mode="semi_auto_parallel", gradients_mean=True, full_batch=True)
    assert modes.is_in_auto_parallel_mode()
    assert modes.get_gradients_mean()
    modes.check_full_batch()
    set_auto_parallel_context(parallel_mode="data_parallel")
    assert modes.is_in_data_parallel_mode()
    with pytest.raises(RuntimeError, match="full_batch"):
        modes.check_full_batch()
    with pytest.raises(ValueError, match="stand_alone"):
        modes.device_number_check("stand_alone", 8)
    with pytest.raises(ValueError, match="stand_alone"):
        modes.parameter_broadcast_check("stand_alone", True)
    modes.device_number_check("data_parallel", 1)


def test_the_settings_as_an_object() -> None:
    settings = auto_parallel_context()
    assert (settings.get_device_num_is_set(), settings.get_device_num()) == (False, 1)
    assert (settings.get_parallel_mode(), settings.get_parameter_broadcast_is_set()) == ("stand_alone", False)
    set_auto_parallel_context(device_num=1, gradients_mean=True)
    assert (settings.get_device_num_is_set(), settings.get_device_num(), settings.get_gradients_mean()) == (
        True,
        1,
        True,
    )
    settings.set_all_reduce_fusion_split_indices([1, 2])
    assert get_auto_parallel_context("all_reduce_fusion_config") == [1, 2]
    assert settings.get_all_reduce_fusion_split_indices() == [1, 2]
    settings.reset()
    assert (settings.get_device_num_is_set(), settings.get_gradients_mean()) == (False, False)
    for name in ("get_nonesuch", "set_nonesuch", "set_device_num_is_set", "device_num", "ask_device_num"):
        with pytest.raises(AttributeError, match=name):
            getattr(settings, name)
    with pytest.raises(TypeError, match="device_num"):
        settings.set_device_num("eight")


def test_compiled_functions_ask_whether_a_setting_was_given() -> None:
    compiled = weft.jit(lambda x: x * (2 if auto_parallel_context().get_device_num_is_set() else 3))
    assert compiled(weft.Tensor([1.0])).tolist() == [3.0]
    set_auto_parallel_context(device_num=1)
    assert compiled(weft.Tensor([1.0])).tolist() == [2.0]
    reset_auto_parallel_context()
    assert compiled(weft.Tensor([1.0])).tolist() == [3.0]


def test_compiled_functions_follow_the_settings() -> None:
    def scaled(x: weft.Tensor) -> weft.Tensor:
        factor = 2 if get_auto_parallel_context("gradients_mean") else 3
        if algorithms.get_algo_parameters("fully_use_devices"):
            factor *= 5
        return x * factor * (7 if modes.get_full_batch() else 1)

    compiled = weft.jit(scaled)
    x = weft.Tensor([1.0])
    for settings in ({}, {"gradients_mean": True}, {"full_batch": True}, {"gradients_mean": False}):
        set_auto_parallel_context(**settings)
        assert compiled(x).asnumpy().tolist() == scaled(x).asnumpy().tolist()
    algorithms.set_algo_parameters(fully_use_devices=True)
    assert compiled(x).asnumpy().tolist() == scaled(x).asnumpy().tolist()
    reset_auto_parallel_context()
    assert compiled(x).asnumpy().tolist() == scaled(x).asnumpy().tolist() == [15.0]


def test_compiled_functions_change_no_settings() -> None:
    @weft.jit(fullgraph=True)
    def change(x: weft.Tensor) -> weft.Tensor:
        set_auto_parallel_context(gradients_mean=True)
        return x

    with pytest.raises(Unsupported, match="change settings outside"):
        change(weft.Tensor([1.0]))
    assert not get_auto_parallel_context("gradients_mean")


def test_settings_of_several_processes() -> None:
    context.set_processes(2, 1)
    try:
        assert context.get_auto_parallel_context("device_num") == 2
        assert context.get_auto_parallel_context("global_rank") == 1
        context.set_auto_parallel_context(pipeline_stages=2)
        with pytest.raises(ValueError, match="pipeline_scheduler must be one of"):
            context.set_auto_parallel_context(pipeline_config={"pipeline_scheduler": "3f4b"})
        with pytest.raises(ValueError, match="there is no option 'scheduler'"):
            context.set_auto_parallel_context(pipeline_config={"scheduler": "gpipe"})
        for mode in ("data_parallel", "semi_auto_parallel", "auto_parallel"):
            context.set_auto_parallel_context(parallel_mode=mode)
    finally:
        context.set_processes(1, 0)
        context.reset_auto_parallel_context()
