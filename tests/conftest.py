"""Settings of the test suite."""

from __future__ import annotations

import gc
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator

import jax
import pytest
from hypothesis import HealthCheck, settings

from tests.helpers.sampling import take_samples

# compiling makes the first example slow, so a deadline would measure XLA
settings.register_profile("weft", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("weft")


def pytest_configure(config: pytest.Config) -> None:
    """Keep what XLA compiles in pytest's cache: workers, processes and the next run find it there; never at home.

    A run without that cache has a folder of its own, so that all tests see the same settings.
    """
    if hasattr(config, "workerinput"):
        return  # a worker has the environment of the process that started it
    if config.pluginmanager.has_plugin("cacheprovider"):
        folder = str(config.cache.mkdir("compiled"))
    else:
        folder = tempfile.mkdtemp(prefix="weft-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["MS_COMPILER_CACHE_PATH"] = folder


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of long families of tests a sample runs, the rest with `make slow`."""
    take_samples(items)


#: growth of a worker's peak memory after which it forgets its compiled programs
_BUDGET = 1 << 30
_peak = 0


def _peak_memory() -> int:
    """Bytes that this process used at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.fixture(autouse=True)
def _bounded_memory() -> Iterator[None]:
    """Thousands of small compiled programs would otherwise stay for the whole run."""
    yield
    global _peak
    if _peak_memory() - _peak > _BUDGET:
        jax.clear_caches()
        gc.collect()
        _peak = _peak_memory()
