"""The report on compiled functions, shown as text, with colours or as a page."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from weft import lazily
from weft.explain import text
from weft.explain.findings import Findings

if TYPE_CHECKING:
    from weft.explain import console, page
else:
    console, page = lazily.deferred("weft.explain.console"), lazily.deferred("weft.explain.page")


class Report(Findings):
    """What happened to compiled functions: graphs, breaks, recompiles, guards and times.

    Args:
        functions: the functions, the one that was asked about first.
        eager: what XLA compiled meanwhile outside of graphs: operations that ran by themselves.

    Example:
        >>> @weft.jit
        ... def double(x):
        ...     return x * 2
        >>> double(Tensor([1.0, 2.0])).shape
        (2,)
        >>> report = double.report()
        >>> report.graphs[0].operations
        {'Mul': 1}
        >>> report.breaks, report.recompiles
        ((), ())
    """

    def __str__(self) -> str:
        return "\n".join(text.report_lines(self))

    def __repr__(self) -> str:
        return f"<Report: {text.totals(self)}>"

    def _repr_html_(self) -> str:
        """The page within a frame of its own: what notebooks show."""
        return f'<iframe srcdoc="{html.escape(self.to_html())}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def print(self) -> None:
        """Print the report; with colours and frames if `rich` is installed."""
        console.print_report(self)

    def to_html(self, path: str | Path | None = None) -> str:
        """The report as a page: one file that needs nothing else.

        Args:
            path: file to write it to; None writes none.

        Returns:
            str: the page.
        """
        made = page.page_of(self)
        if path is not None:
            Path(path).write_text(made, encoding="utf-8")
        return made
