"""The table of `docs/zoo.md`, made from recorded runs."""

from __future__ import annotations

from typing import Any

from tests.zoo.runner import agrees, breaks

_COLUMNS = (
    "model", "parameters", "images", "agrees", "graphs", "breaks", "first calls: graph, jit", "step: eager, graph, jit",
    "eager/jit",
)  # fmt: skip
HEAD = f"| {' | '.join(_COLUMNS)} |\n|---|--:|---|---|--:|--:|--:|--:|--:|\n"


def page(results: dict[str, Any]) -> str:
    """The table of all results, by name, with their number before it."""
    good = sum(agrees(result) for result in results.values())
    whole = sum(agrees(result) and not breaks(result) for result in results.values())
    slowest = sorted(results.values(), key=first, reverse=True)[:10]
    others = sum(decided_by_others(result) for result in results.values())
    lines = [
        f"Of {len(results)} models {good} run in all modes and agree, {whole} of them without a break",
        f"; for {others} other images decided.\n\n",
        "The slowest first calls: ",
        ", ".join(f"{result['model']} {first(result):.0f} s" for result in slowest),
        ".\n\n",
        HEAD,
        *(row(results[name]) + "\n" for name in sorted(results)),
    ]
    return "".join(lines)


def row(result: dict[str, Any]) -> str:
    """One model's row."""
    modes = result["modes"]
    images = f"{result['batch']}x{result['size']}" if "size" in result else ""
    cells = [result["model"], f"{result.get('parameters', 0) / 1e6:.1f} M", images, verdict(result)]
    compiled = [modes[mode] for mode in ("graph", "jit") if mode in modes]
    cells.append(", ".join(str(mode["graphs"]) for mode in compiled))
    cells.append(", ".join(str(len(mode["breaks"])) for mode in compiled))
    cells.append(", ".join(f"{first_of(mode):.1f} s" for mode in compiled))
    cells.append(", ".join(f"{mode['times']['steady_step'] * 1e3:.0f} ms" for mode in modes.values()))
    ratio = ""
    if {"eager", "jit"} <= modes.keys():
        ratio = f"{modes['eager']['times']['steady_step'] / modes['jit']['times']['steady_step']:.1f}"
    return "| " + " | ".join([*cells, ratio]) + " |"


def verdict(result: dict[str, Any]) -> str:
    """Whether a model agrees, or what does not."""
    if "failed" in result:
        return f"{result['failed']}: {result.get('error', '')}".replace("|", "/").replace("\n", " ")[:120]
    if agrees(result):
        return "yes, by other images" if decided_by_others(result) else "yes"
    return "; ".join(
        f"{name}: {kind} {part['difference']:.0e}"
        for name, mode in result["modes"].items()
        for kind, part in mode.get("compared", {}).items()
        if not part["agrees"]
    )


def decided_by_others(result: dict[str, Any]) -> bool:
    """Whether a model agrees for most of several images, and not for the first ones."""
    return agrees(result) and any("other_images" in mode for mode in result["modes"].values())


def first_of(mode: dict[str, Any]) -> float:
    """Seconds of the first forward and the first step."""
    return mode["times"]["first_forward"] + mode["times"]["first_step"]


def first(result: dict[str, Any]) -> float:
    """Seconds of the slowest first call."""
    return max((first_of(mode) for name, mode in result["modes"].items() if name != "eager"), default=0.0)
