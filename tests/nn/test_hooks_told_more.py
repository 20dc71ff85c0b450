"""Forward hooks that are told keyword arguments, come first, or are called where the cell raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor, grad, jit, nn

ways = pytest.mark.parametrize("way", [lambda function: function, jit], ids=["eager", "jit"])


class Scaled(nn.Cell):
    def construct(self, x: Any, *, by: int = 1) -> Any:
        if by == 9:
            raise ValueError("by nine")
        return x * by


def run(way: Callable[..., Any], net: Scaled) -> Callable[[float, int], float]:
    function = way(lambda x, by: net(x, by=by))
    return lambda x, by: function(Tensor([x]), by).item()


@ways
def test_they_get_and_replace_keyword_arguments(way: Any) -> None:
    net = Scaled()
    pre = net.register_forward_pre_hook(lambda cell, args, named: (args, {"by": named["by"] + 3}), with_kwargs=True)
    post = net.register_forward_hook(lambda cell, args, named, output: output + named["by"], with_kwargs=True)
    call = run(way, net)
    assert [call(1.0, 2), call(2.0, 2), call(1.0, 4)] == [10.0, 15.0, 14.0]
    pre.remove()
    assert call(1.0, 2) == 4.0
    post.remove()
    assert call(1.0, 2) == 2.0
    net.register_forward_pre_hook(lambda cell, args, named: None, with_kwargs=True)
    net.register_forward_pre_hook(lambda cell, args, named: (args[0] + 1, named), with_kwargs=True)
    assert call(1.0, 2) == 4.0
    assert way(grad(lambda x: net(x, by=3)))(Tensor([1.0])).item() == 3.0


@ways
def test_one_that_is_prepended_runs_first(way: Any) -> None:
    net = Scaled()
    net.register_forward_pre_hook(lambda cell, args: args[0] * 10)
    net.register_forward_pre_hook(lambda cell, args: args[0] + 1, prepend=True)
    net.register_forward_hook(lambda cell, args, output: output * 2)
    first = net.register_forward_hook(lambda cell, args, output: output + 5, prepend=True)
    call = run(way, net)
    assert call(1.0, 1) == 50.0
    first.remove()
    assert call(1.0, 1) == 40.0


@ways
def test_it_is_called_where_the_cell_raised(way: Any) -> None:
    net, seen = Scaled(), list[bool]()
    net.register_forward_hook(lambda cell, args, output: seen.append(output is None), always_call=True)
    net.register_forward_hook(lambda cell, args, output: output + 1)
    call = run(way, net)
    assert call(1.0, 2) == 3.0
    with pytest.raises(ValueError, match="by nine"):
        call(1.0, 9)
    assert call(1.0, 3) == 4.0
    assert seen == [False, True, False]


@ways
def test_what_a_hook_may_return(way: Any) -> None:
    net = Scaled()
    net.register_forward_pre_hook(lambda cell, args, named: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="must return None or"):
        run(way, net)(1.0, 2)
    with pytest.raises(TypeError, match="must be callable"):
        net.register_forward_hook(3, with_kwargs=True)
