"""Networks of one statement each, and what their trees say: runs with weft and with MindSpore, which was recorded.

``python tests/rewrite/listing.py recorded_trees.json`` in an environment with MindSpore 2.10 writes the file.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HEAD = """
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
K = 3
def twice(x, y=1):
    return x * 2 + y
class Sub(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.n = 2
    def construct(self, x):
        y = self.dense(x)
        return self.helper(y) + self.n
    def helper(self, x):
        return x * self.n
"""
NETWORK = """
class {name}(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.sub = Sub()
        self.add = ops.Add()
        self.act = nn.ReLU()
        self.flag = True
        self.n = 2
        self.layers = nn.CellList([nn.Dense(4, 4), Sub()])
        self.seq = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU(), Sub())
        self.cells = [nn.ReLU(), nn.Tanh()]
    def construct(self, x, k=1, y=None):
        {body}
        return y
    def method(self, x):
        z = self.fc(x) + 1
        return z
"""
BODIES = (
    "y = self.fc(x)",
    "y = self.act(self.fc(x))",
    "y = self.add(self.fc(x), self.act(x))",
    "y = self.fc(x).sum(axis=1)",
    "y = self.sub.dense(x)",
    "y = x.T",
    "y = x",
    "y = x.shape[0]",
    "y = self.n",
    "y = 1 < K < 3",
    "y = x if k else y",
    "y = f'{x}'",
    "y = twice(x, 2)",
    "y = self.method(x) * y",
    "y: Tensor = x + 1",
    "a = b = x * 2\n        y = a + b",
    "self.z = y",
    "y = (x + 1) @ (x ** 2) // 3 % 4",
    "y = (x & 1) | (x ^ 2) << 1 >> 2",
    "y = ~x + (-x) - (+x)",
    "y = x in (1, 2)",
    "y = self.cells[0](x)",
    "y = self.layers[0](x)",
    "y = x[x.sum() + 1]",
    "y = x[1:k, ..., None]",
    "y = np.sqrt(2)",
    "y = {1: x}",
    "y = {1, 2}",
    "y = self.act(x) + self.act(self.act(x) * 2)",
    "y = 'abc'",
    "y = None",
    "y = -1",
    "y = Tensor([1, 2], ms.float32).astype(ms.float16)",
    "y, z = x, x",
    "y, z = self.fc(x), 1",
    "(p, q), r = (x, x), y",
    "y = self.sub(self.sub(x))",
    "y = self.sub.helper(x)",
    "y = isinstance(x, Tensor)",
    "y = (lambda q: q)(x)",
    "y = [self.fc(x), x[0]]",
    "y = int(x.sum())",
    "x[0] = self.fc(y + 1)",
    "self.fc(x)",
    "y += self.fc(x) + 1",
    "y = self.method(x)(x)",
    "y = [t + 1 for t in (x, x)]",
    "print(x)",
    "print(self.fc(x), x + 1)",
    "self.fc(self.fc(x)).sum()",
    "y = []\n        y.append(self.fc(x + 1))\n        y.extend([self.fc(x), x])",
    "y = self.fc(x).shape",
    "y = self.fc(x)[0]",
    "y = self.add(self.fc(x).T, x.T)",
    "y = self.fc(x)[0] + self.fc(x).T",
    "y = x[self.n] + self.cells[0](x)[1]",
    "y = x is None or k",
    "y = not (x is None)",
    "y = ops.Add()(x, x)",
    "raise ValueError(self.fc(x))",
    "del x",
    "y = self.method(self.sub(x))",
    "y = ms.Tensor([1.0]) + K",
    "y = (self.fc(x), (self.act(x), [x, -x]))",
    "assert x is not None",
    "if self.flag:\n            y = self.fc(x)\n        else:\n            y = self.act(x)",
    "if x.sum() > 0:\n            y = self.act(self.fc(x))\n            return y",
    "if not k:\n            y = x\n        elif k > 3:\n            y = self.fc(x)\n        else:\n            y = -x",
    "for layer in self.layers:\n            y = layer(x)",
    "for i in range(2):\n            y = self.act(x)",
    "y = self.seq(x)",
    "y = 0\n        while y < 3:\n            x = self.fc(x)\n            y += 1",
    "with open(x) as f:\n            y = self.fc(x)",
    "try:\n            y = self.fc(x)\n        finally:\n            y = x",
    "pass",
)


def networks(folder: str) -> list[Any]:
    """An instance of the network of each body, defined in a file."""
    text = HEAD + "".join(NETWORK.format(name=f"Net{i}", body=body) for i, body in enumerate(BODIES))
    file = Path(folder) / "listed_networks.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("listed_networks", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["listed_networks"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [getattr(module, f"Net{i}")() for i in range(len(BODIES))]


def said(tree: Any) -> dict[str, Any]:
    """What a tree says: its construct, and of each node all that is asked of nodes."""
    return {"code": code_of(tree.get_code()), "nodes": rows(tree)}


def code_of(text: str) -> list[str]:
    """The lines of the last construct; MindSpore numbers functions in the order of the whole process."""
    lines = text[text.rfind("    def construct(") :].split("\n")[1:]
    end = next((i for i, line in enumerate(lines) if line and not line.startswith("        ")), len(lines))
    return [re.sub(r"\btwice_\d+", "twice", line) for line in lines[:end] if line.strip()]


def rows(tree: Any) -> list[list[Any]]:
    """A row for each node; below a node of another cell the rows of its tree."""
    found = []
    for node in tree.nodes():
        kind = node.get_instance_type()
        row = [
            node.get_name(),
            node.get_node_type().name,
            getattr(kind, "__name__", str(kind)),
            [str(each) for each in node.get_targets()],
            [str(each) for each in node.get_args()],
            {str(name): str(each) for name, each in node.get_kwargs().items()},
            [each.get_name() for each in node.get_inputs()],
            sorted({each.get_name() for each in node.get_users()}),
        ]
        found.append(json.loads(re.sub(r"\btwice_\d+", "twice", json.dumps(row))))
        if node.get_node_type().name == "Tree":
            found.append(rows(node.get_sub_tree()))
    return found


def main(file: str) -> None:
    """Write what the trees of all networks say."""
    from mindspore.rewrite import SymbolTree

    with tempfile.TemporaryDirectory() as folder:
        found = {body: said(SymbolTree.create(net)) for body, net in zip(BODIES, networks(folder), strict=True)}
    lines = (f"{json.dumps(body)}: {json.dumps(each)}" for body, each in found.items())
    Path(file).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
