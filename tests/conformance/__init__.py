"""Thousands of calls of MindSpore's public API with the answers of MindSpore 2.10, see `docs/conformance.md`."""
