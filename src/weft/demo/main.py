"""The demo's flow: load, train in each mode with a progress bar, report."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from weft import set_seed
from weft.demo import data
from weft.demo.starting import Start, starts
from weft.demo.training import MODES, Run, accuracy, initial_weights, train

TOLERANCE = 1e-4


def main(options: argparse.Namespace) -> int:
    """Run the demo.

    Args:
        options: epochs, batch_size, lr, seed, starts, plot and quiet, as the command line parsed them.

    Returns:
        int: exit status.
    """
    digits = data.load(options.seed)
    if options.batch_size > len(digits.images):
        return _refuse(f"--batch-size {options.batch_size} is more than the {len(digits.images)} training images")
    if options.plot:
        problem = _plot_problem(options.plot)
        if problem:
            return _refuse(problem)
    console = Console()
    set_seed(options.seed)
    weights = initial_weights()
    total = digits.steps(options.batch_size, options.epochs)
    runs: list[Run] = []
    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TimeElapsedColumn(),
    )
    with Interrupts() as interrupts, Progress(*columns, console=console, disable=options.quiet) as progress:
        for mode in MODES:
            task = progress.add_task(mode.name, total=total, loss=float("nan"))
            batches = digits.batches(options.batch_size, options.epochs, options.seed)
            network, run = train(mode, weights, batches, options.lr, partial(_advance, progress, task, interrupts))
            run.accuracy = accuracy(network, digits.test_images, digits.test_labels)
            runs.append(run)
    console.print(report(runs))
    spread = max(run.losses[-1] for run in runs) - min(run.losses[-1] for run in runs)
    verdict = "agree" if spread <= TOLERANCE else "do NOT agree"
    console.print(f"Last losses {verdict} to {TOLERANCE:g} (they differ by {spread:.1e}).", highlight=False)
    found: dict[str, tuple[Start, Start]] = {}
    if options.starts:
        with Progress(*columns[:3], console=console, disable=options.quiet, transient=True) as progress:
            task = progress.add_task("processes", total=3 * len(MODES))
            found = starts(options, lambda name: progress.update(task, advance=1, description=name))
        console.print(report_of_starts(found))
    if options.plot:
        plot(runs, found, options.plot)
        console.print(
            f"{'Loss curves and times' if found else 'Loss curves'} written to {options.plot}", highlight=False
        )
    return 0


def _advance(progress: Progress, task: TaskID, interrupts: Interrupts, loss: float) -> None:
    interrupts.check()
    progress.update(task, advance=1, loss=loss)


class Interrupts:
    """Ctrl-C takes effect between two steps, a second one at once.

    An exception raised just anywhere can be lost: JAX calls Python during garbage collection, where Python prints
    exceptions and goes on.
    """

    def __init__(self) -> None:
        self.pending = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: Any) -> None:
        if self.pending:
            raise KeyboardInterrupt
        self.pending = True

    def check(self) -> None:
        """Raise if Ctrl-C was pressed.

        Raises:
            KeyboardInterrupt: it was.
        """
        if self.pending:
            raise KeyboardInterrupt


def report(runs: list[Run]) -> Table:
    """The table of the trainings."""
    table = Table(title=f"Digits, {len(runs[0].losses)} steps from the same weights and batches")
    table.add_column("mode")
    for heading in ("accuracy", "last loss", "first step", "later steps", "speed"):
        table.add_column(heading, justify="right")
    for run in runs:
        table.add_row(
            run.mode.name,
            f"{run.accuracy:.2%}",
            f"{run.losses[-1]:.6f}",
            f"{run.first * 1e3:.0f} ms",
            f"{run.steady * 1e3:.2f} ms",
            f"{runs[0].steady / run.steady:.1f}x",
        )
    return table


def report_of_starts(found: dict[str, tuple[Start, Start]]) -> Table:
    """The table of processes without the compile cache and with it."""
    table = Table(title="A process of its own: compile cache off, and filled by an earlier process")
    table.add_column("mode")
    for heading in ("first step, off", "filled", "faster", "later steps, off", "filled"):
        table.add_column(heading, justify="right")
    for name, (without, filled) in found.items():
        table.add_row(
            name,
            f"{without.first * 1e3:.0f} ms",
            f"{filled.first * 1e3:.0f} ms",
            f"{without.first / filled.first:.1f}x",
            f"{without.steady * 1e3:.2f} ms",
            f"{filled.steady * 1e3:.2f} ms",
        )
    return table


def plot(runs: list[Run], found: dict[str, tuple[Start, Start]], path: str) -> None:
    """Write the loss curves of the trainings to an image, and the first steps of processes if there are any."""
    from matplotlib.figure import Figure  # noqa: PLC0415  only --plot needs it

    figure = Figure(figsize=(13 if found else 8, 4.5), layout="constrained")
    axes, *more = figure.subplots(1, 2 if found else 1, squeeze=False)[0]
    for bars in more:
        for place, label in enumerate(("cache off", "cache filled")):
            heights = [pair[place].first for pair in found.values()]
            bars.bar([i + 0.4 * place for i in range(len(found))], heights, width=0.38, label=label)
        bars.set_xticks([i + 0.2 for i in range(len(found))], list(found))
        bars.set(ylabel="seconds", title="First step of a process")
        bars.margins(y=0.2)  # room for the legend
        bars.legend()
    for run, style in zip(runs, ("-", "--", ":"), strict=True):
        axes.plot(range(1, len(run.losses) + 1), run.losses, style, label=run.mode.name, linewidth=1.5)
    axes.set(xlabel="step", ylabel="loss", yscale="log", title="Digits: the same training, three ways")
    axes.legend()
    figure.savefig(path, dpi=150)


def _plot_problem(path: str) -> str:
    """Why the image could not be written, found before the training rather than after it; empty if it can."""
    from matplotlib.figure import Figure  # noqa: PLC0415  only --plot needs it

    known = Figure().canvas.get_supported_filetypes()
    extension = os.path.splitext(path)[1].lstrip(".").lower() or "png"
    if extension not in known:
        return f"--plot {path}: no image format is called {extension!r}; use one of {', '.join(sorted(known))}"
    folder = os.path.dirname(os.path.abspath(path))
    if not os.access(folder, os.W_OK):
        return f"--plot {path}: cannot write in {folder}"
    return ""


def _refuse(message: str) -> int:
    print(f"weft demo: {message}", file=sys.stderr)
    return 2
