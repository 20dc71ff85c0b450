"""Runs the tests of one file in a process of its own, and reports each as a line of JSON.

The parent (`tests.cpython.runner`) kills it when a test takes too long, and starts another one behind that test.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import gc
import importlib
import inspect
import json
import os
import random
import sys
import tempfile
import unittest
import warnings
from collections.abc import Iterator
from typing import Any

from tests.cpython.nops import with_nops
from tests.cpython.outcomes import compare


def test_methods(module: Any) -> Iterator[tuple[type[unittest.TestCase], str]]:
    """The test methods of a module, in a fixed order; a class imported from elsewhere counts where it is found."""
    loader = unittest.TestLoader()
    for _, kind in inspect.getmembers(module, inspect.isclass):
        if issubclass(kind, unittest.TestCase) and not issubclass(kind, unittest.IsolatedAsyncioTestCase):
            for name in loader.getTestCaseNames(kind):
                function = inspect.unwrap(getattr(kind, name))
                if not inspect.iscoroutinefunction(function):
                    yield kind, name


def main(argv: list[str]) -> None:
    """Run ``child FILE SKIP_COUNT SEED ONLY``: tests of a file behind the first ones; a seed inserts NOPs."""
    name, skip, seed, only = argv[0], int(argv[1]), argv[2], argv[3]
    report = os.fdopen(os.dup(1), "w", buffering=1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        if not only:
            os.dup2(nowhere.fileno(), 2)
    faulthandler.enable()
    from test import support

    support.use_resources = []
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        module = importlib.import_module(f"test.{name}")
        if hasattr(module, "setUpModule"):
            module.setUpModule()
        ready: type | None = None
        for number, (kind, method) in enumerate(test_methods(module)):
            test = f"{kind.__qualname__}.{method}"
            if number < skip or only not in test:
                continue
            gc.freeze()  # collections, of which some tests make many, leave what is here already alone
            print(json.dumps({"start": test, "number": number}), file=report)
            if kind is not ready:
                if ready is not None:
                    ready.doClassCleanups()  # type: ignore[attr-defined]
                try:
                    kind.setUpClass()
                except unittest.SkipTest:
                    continue
                ready = kind
            random_numbers = random.Random(f"{seed} {test}")
            change = (lambda function, r=random_numbers: with_nops(function, r)) if seed else None
            verdict = compare(kind, method, change, mode="PIJit")
            print(json.dumps(dataclasses.asdict(verdict)), file=report)
        os.chdir("/")
    report.flush()
    os._exit(0)  # threads and objects that tests leave behind must not keep the process


if __name__ == "__main__":
    main(sys.argv[1:])
