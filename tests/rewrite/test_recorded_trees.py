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


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return dict(zip(BODIES, networks(str(tmp_path_factory.mktemp("listed"))), strict=True))


@pytest.mark.parametrize("body", BODIES)
def test_a_tree_says_what_was_recorded(body: str, listed: dict[str, Any]) -> None:
    found = json.loads(json.dumps(said(SymbolTree.create(listed[body]))))
    assert found == RECORDED[body]


def test_every_body_was_recorded() -> None:
    assert list(RECORDED) == list(BODIES)
    assert Path(HERE / "recorded_trees.json").exists()
