"""What cannot be exported or run is refused, with a message that says what and where; a file runs without its code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.processes import environment
from tests.mindir.networks import Structures, Trained, tensor
from weft import Parameter, Tensor, dtypes, nn, ops
from weft.errors import MindIRError, Unsupported
from weft.mindir import GraphCell, export, load

pytest.importorskip("safetensors")


def refused(folder: Path, function: Any, *inputs: Any, line: str) -> str:
    """The message of a refusal; no file is left."""
    with pytest.raises(Unsupported) as caught:
        export(function, *inputs, file_name=str(folder / "f"))
    assert list(folder.iterdir()) == []
    message = str(caught.value)
    assert line in message
    return message


def test_python_at_run_time_is_refused_with_the_line(tmp_path: Path) -> None:
    def on_numpy(x: Any) -> Any:
        return Tensor(np.sort(x.asnumpy()))  # on_numpy's line

    def says(x: Any) -> Any:
        print(x)
        return x

    def calls(x: Any) -> Any:
        return ops.host_call(lambda a: a, x)

    here = Path(__file__).read_text().splitlines()
    number = next(at for at, text in enumerate(here, 1) if "# on_numpy's line" in text)
    refused(tmp_path, on_numpy, tensor(3), line=f"test_refused.py:{number}")
    refused(tmp_path, says, tensor(3), line="test_refused.py:")
    refused(tmp_path, calls, tensor(3), line="")


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    seen: list[Any] = []

    def keeps(x: Any) -> Any:
        seen.append(1)
        return x

    def writes_input(x: Any) -> Any:
        x[0] = 1.0
        return x * 2

    refused(tmp_path, lambda x: object(), tensor(3), line="returns a object")
    refused(tmp_path, lambda x: {1: x}, tensor(3), line="returns a dict")
    refused(tmp_path, keeps, tensor(3), line="changes a Python object")
    refused(tmp_path, writes_input, tensor(3), line="writes into its own input")
    assert seen == []


def test_arguments_are_checked(tmp_path: Path) -> None:
    name = str(tmp_path / "f")
    with pytest.raises(TypeError, match="file_name must be a str, not int"):
        export(lambda x: x, tensor(1), file_name=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'ONNX' is not supported"):
        export(lambda x: x, tensor(1), file_name=name, file_format="ONNX")
    with pytest.raises(ValueError, match="file_format must be"):
        export(lambda x: x, tensor(1), file_name=name, file_format="AIR")
    with pytest.raises(TypeError, match="must be a Cell or a function, not int"):
        export(3, tensor(1), file_name=name)
    with pytest.raises(TypeError, match="an input must be a Tensor, or a tuple, list or dict of Tensors, not NoneType"):
        export(lambda x: x, None, file_name=name)
    with pytest.raises(TypeError, match="file_name must be a str, not int"):
        load(3)  # type: ignore[arg-type]
    with pytest.raises(MindIRError, match="there is no MINDIR file"):
        load(name)


def test_inputs_are_those_of_the_export(tmp_path: Path) -> None:
    export(nn.Dense(4, 2), tensor(3, 4), file_name=str(tmp_path / "d"))
    net = GraphCell(load(str(tmp_path / "d.mindir")))
    with pytest.raises(
        ValueError,
        match=r"argument 0 is float32 of shape \(5, 4\), the graph was exported for float32 of shape \(3, 4\)",
    ):
        net(tensor(5, 4))
    with pytest.raises(ValueError, match="argument 0 is float16"):
        net(tensor(3, 4).astype(dtypes.float16))
    with pytest.raises(TypeError, match="takes 1 arguments, not 2"):
        net(tensor(3, 4), tensor(3, 4))
    with pytest.raises(TypeError, match="argument 0 must be a Tensor, not list"):
        net([tensor(3, 4)])
    two = {"a": tensor(2), "b": tensor(2)}
    export(Structures(), two, (tensor(2), [tensor(2), tensor(2)]), file_name=str(tmp_path / "s"))
    net = GraphCell(load(str(tmp_path / "s.mindir")))
    with pytest.raises(TypeError, match="argument 0 must have the key 'b'"):
        net({"a": tensor(2), "c": tensor(2)}, (tensor(2), [tensor(2), tensor(2)]))
    with pytest.raises(TypeError, match=r"argument 1\[1\] must be a list of 2 items"):
        net(two, (tensor(2), [tensor(2)]))
    with pytest.raises(ValueError, match=r"argument 1\[1\]\[0\] is float32 of shape \(3,\)"):
        net(two, (tensor(2), [tensor(3), tensor(2)]))


def test_code_of_the_program_is_refused(tmp_path: Path) -> None:
    class Twice(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * 3,)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.twice = Twice()

        def construct(self, x: Any) -> Any:
            return self.twice(x)

    refused(tmp_path, Net(), tensor(3), line="code of the program")


_FRESH = """
import sys
import numpy as np
from weft import Tensor, set_seed
from weft.mindir import GraphCell, load
net = GraphCell(load(sys.argv[1]))
set_seed(4)
results = [net(Tensor(x)).asnumpy() for x in np.load(sys.argv[2])]
np.savez(sys.argv[3], *results, *[p.asnumpy() for p in sorted(net.get_parameters(), key=lambda p: p.name)])
assert not any(name.startswith("tests") for name in sys.modules)
"""


def test_a_new_process_runs_it_without_the_program(tmp_path: Path) -> None:
    import weft

    weft.set_seed(1)
    net = Trained()
    net.set_train()
    export(net, tensor(5, 4), file_name=str(tmp_path / "net"))
    inputs = np.stack([tensor(5, 4, seed=seed).asnumpy() for seed in range(3)])
    np.save(tmp_path / "inputs.npy", inputs)
    command = [
        sys.executable,
        "-c",
        _FRESH,
        *[str(tmp_path / part) for part in ("net.mindir", "inputs.npy", "out.npz")],
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    compiled = weft.jit(net)
    weft.set_seed(4)
    expected = [compiled(Tensor(x)).asnumpy() for x in inputs]
    expected += [p.asnumpy() for p in sorted(net.get_parameters(), key=lambda p: p.name)]
    with np.load(tmp_path / "out.npz") as found:
        arrays = [found[name] for name in found.files]
    assert len(arrays) == len(expected)
    assert all(np.array_equal(one, other) for one, other in zip(arrays, expected, strict=True))


def test_parameters_of_one_name_are_two(tmp_path: Path) -> None:
    first, second = (Parameter(Tensor([number]), name="w") for number in (1.0, 2.0))
    export(lambda x: x * first + second, Tensor([3.0]), file_name=str(tmp_path / "f"))
    assert GraphCell(load(str(tmp_path / "f.mindir")))(Tensor([3.0])).asnumpy().tolist() == [5.0]
