"""Indices out of bounds raise in a network from a file, as in the network that was written, and nothing is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import Parameter, Tensor, jit, nn, ops
from weft.mindir import GraphCell, export, load


class Rows(nn.Cell):
    """Rows of a table, with a count of its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(3, 2)
        self.calls = Parameter(Tensor([0.0]), name="calls", requires_grad=False)

    def construct(self, i: Any) -> Any:
        ops.assign_add(self.calls, Tensor([1.0]))
        return self.table(i) * 2


@pytest.mark.parametrize("way", [lambda cell: cell, lambda cell: jit(lambda i: cell(i))])
def test_an_index_out_of_bounds(way: Any, tmp_path: Path) -> None:
    net = Rows()
    export(net, Tensor([0, 1]), file_name=str(tmp_path / "rows"))
    cell = GraphCell(load(str(tmp_path / "rows.mindir")))
    run = way(cell)
    (calls,) = [p for p in cell.get_parameters() if p.name == "calls"]
    for values in ([0, 2], [1, 3], [-1, 1], [-4, 0], [2, 2]):
        before = calls.asnumpy().copy()
        if min(values) < -3 or max(values) > 2:
            with pytest.raises(IndexError, match=r"out of bounds for a table of 3 rows"):
                run(Tensor(values))
            np.testing.assert_array_equal(calls.asnumpy(), before)
        else:
            np.testing.assert_array_equal(run(Tensor(values)).asnumpy(), net(Tensor(values)).asnumpy())
            np.testing.assert_array_equal(calls.asnumpy(), before + 1)
