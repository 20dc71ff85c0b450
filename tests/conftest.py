"""Settings of the test suite."""

from __future__ import annotations

import gc
import resource
import shutil
import sys
from collections.abc import Iterator

import jax
import pytest
from hypothesis import HealthCheck, settings

# compiling makes the first example slow, so a deadline would measure XLA
settings.register_profile("weft", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("weft")

#: bytes of compiled programs on disk beyond which they are thrown away
_MOST_KEPT = 4 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Keep what XLA compiles in pytest's cache: the workers and the next run find it there.

    The key of an entry is the program with the compiler's version and options, so an entry is never stale.
    """
    if config.pluginmanager.has_plugin("cacheprovider"):
        folder = config.cache.mkdir("xla")
        if not hasattr(config, "workerinput") and sum(f.stat().st_size for f in folder.iterdir()) > _MOST_KEPT:
            shutil.rmtree(folder)
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


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
