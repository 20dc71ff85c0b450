"""A branch whose sides a gradient cannot go on with is refused where it stands, with what differs."""

import pytest

from weft import Tensor, jit
from weft.autodiff.grad import grad, value_and_grad
from weft.errors import Unsupported


def shapes(x):
    return x * 2 if x.sum() > 0 else x.sum()


def nested(x):
    if x.sum() > 0:
        return x * 2
    if x.sum() > -5:
        return x.sum()
    return x * 3


@pytest.mark.parametrize("program", [shapes, nested])
@pytest.mark.parametrize("transform", [grad, value_and_grad])
def test_refusal(program, transform):
    with pytest.raises(Unsupported) as caught:
        jit(transform(program), fullgraph=True)(Tensor([1.0, 2.0]))
    location = caught.value.location
    assert location is not None
    assert location.file == __file__
    assert program.__code__.co_firstlineno < location.line
    assert "Float32[2]" in str(caught.value)
    assert "Float32[]" in str(caught.value)
    assert jit(program, fullgraph=True)(Tensor([1.0, 2.0])).asnumpy().tolist() == [2.0, 4.0]
