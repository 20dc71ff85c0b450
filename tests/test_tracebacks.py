"""What an operation raises ends in the user's line, in eager code, in compiled code and under `weft run`."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft
from weft import Tensor, nn, ops
from weft.core.tracebacks import is_hidden


def product(x: Any) -> Any:
    return ops.matmul(x, x)


def operator(x: Any) -> Any:
    return x + x.reshape(-1)[:4]


def reflected(x: Any) -> Any:
    return [1.0, 2.0, 3.0, 4.0] - x


def on_the_tape(x: Any) -> Any:
    return weft.grad(lambda y: (y @ y).sum())(x)


def entry(x: Any) -> Any:
    return x[7]


def write(x: Any) -> None:
    x[0] = Tensor([1.0, 2.0])


def no_tensor(x: Any) -> Any:
    return ops.relu("text")


def shape(x: Any) -> Any:
    return ops.reshape(x, (4, 4))


def joined(x: Any) -> Any:
    return ops.concat((x, x[0]))


PROGRAMS = [product, operator, reflected, on_the_tape, entry, write, no_tensor, shape, joined]


def shown(call: Callable[[Any], Any]) -> list[Any]:
    """The frames of what a call raises; there is no other exception beside it."""
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with pytest.raises((ValueError, TypeError, IndexError)) as raised:
        call(x)
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    return traceback.extract_tb(raised.value.__traceback__)


@pytest.mark.parametrize("program", PROGRAMS)
def test_errors_end_in_the_users_line(program: Any) -> None:
    places = shown(program)
    assert places[-1].filename == __file__
    if program is not on_the_tape:
        assert not [place for place in places if is_hidden(place.filename)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiled_errors_end_in_the_same_line(program: Any) -> None:
    compiled = weft.jit(program)
    for places in (shown(compiled), shown(compiled)):
        assert not [place for place in places if is_hidden(place.filename)]
        assert (places[-1].filename, places[-1].lineno) == (__file__, shown(program)[-1].lineno)


def test_layers_are_shown() -> None:
    places = shown(nn.SequentialCell([nn.Dense(4, 3)]))
    assert [place.name for place in places][-1] == "construct"
    assert not [place for place in places if is_hidden(place.filename)]


def test_all_frames_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_TRACEBACK", "full")
    assert is_hidden(shown(product)[-1].filename)


def test_a_callback_of_the_users_is_shown() -> None:
    def calls_back(x: Any) -> Any:
        return weft.grad(lambda y: weft.vmap(product)(y).sum())(x[None])

    assert [place.name for place in shown(calls_back)][-1] == "product"


def test_a_program_that_ends_in_an_error(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import mindspore as ms\n"
        "from mindspore import ops\n\n\n"
        "def loss(x):\n"
        "    return ops.matmul(x, x).mean()\n\n\n"
        "ms.value_and_grad(loss)(ops.ones((2, 3)))\n"
    )
    ran = subprocess.run([sys.executable, "-m", "weft", "run", script], capture_output=True, text=True)
    files = [line.strip() for line in ran.stderr.splitlines() if line.startswith("  File")]
    assert files == [f'File "{script}", line 9, in <module>', f'File "{script}", line 6, in loss'], ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("ValueError: matmul")
