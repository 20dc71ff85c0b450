"""The programs are run by `test_programs`, not collected."""

from __future__ import annotations

collect_ignore_glob = ["programs/*"]
