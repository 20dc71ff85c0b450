"""The programs are run with `mindcv` installed, not collected."""

from __future__ import annotations

collect_ignore_glob = ["programs/*"]
