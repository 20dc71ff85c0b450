"""Trees of networks of one statement each say what MindSpore 2.10 says of the same networks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import weft.mindspore  # noqa: F401
from tests.rewrite.listing import BODIES, HERE, networks, said
from weft.rewrite import SymbolTree

RECORDED: dict[str, Any] = json.loads((HERE / "recorded_trees.json").read_text())


#: where calls become nodes that MindSpore leaves in a statement, since an item or attribute is taken of them
NAMED = {
    "y = self.fc(x).shape": ["fc_var = self.fc(x)", "y = fc_var.shape"],
    "y = self.fc(x)[0]": ["fc_var = self.fc(x)", "y = fc_var[0]"],
    "y = self.fc(x)[0] + self.fc(x).T": [
        "fc_var = self.fc(x)",
        "fc_var_1 = self.fc(x)",
        "subscript_var = fc_var_1[0]",
        "y = subscript_var + fc_var.T",
    ],
    "y = x[self.n] + self.cells[0](x)[1]": [
        "subscript_var_2 = self.cells[0]",
        "call_var = subscript_var_2(x)",
        "subscript_var_1 = call_var[1]",
        "subscript_var = x[self.n]",
        "y = subscript_var + subscript_var_1",
    ],
}


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return dict(zip(BODIES, networks(str(tmp_path_factory.mktemp("listed"))), strict=True))


@pytest.mark.parametrize("body", BODIES)
def test_a_tree_says_what_was_recorded(body: str, listed: dict[str, Any]) -> None:
    found = json.loads(json.dumps(said(SymbolTree.create(listed[body]))))
    if body in NAMED:
        assert found["code"] == [f"        {line}" for line in [*NAMED[body], "return y"]]
        assert RECORDED[body]["code"] != found["code"]
    else:
        assert found == RECORDED[body]


def test_every_body_was_recorded() -> None:
    assert list(RECORDED) == list(BODIES)
    assert Path(HERE / "recorded_trees.json").exists()
