"""What tests of datasets share: each leaves the settings of pipelines as they were."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weft import data as ds


@pytest.fixture(autouse=True)
def settings_of_pipelines() -> Iterator[None]:
    """Each test leaves the settings as they were."""
    before, workers = dict(ds.config._values), ds.config._workers_asked
    yield
    ds.config._values.update(before)
    ds.config._workers_asked = workers
