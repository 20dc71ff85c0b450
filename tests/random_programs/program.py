"""A random program: a function or Cell, what it finds around it, and the script that calls it."""

from __future__ import annotations

import random
from typing import Final

from tests.random_programs import control, derivatives, handles, numbers_of_tensors
from tests.random_programs.world import completed
from tests.random_programs.writer import Writer

#: what a program is: opening lines, what its body stands under, closing lines
_GLOBALS: Final = "global scale, count, latest, flag"
_SHAPES: Final[dict[str, tuple[str, str, int, str]]] = {
    "function": ("@jit\ndef step(x, y, k):", "", 1, ""),
    "closure": (
        "def make():\n    n = 1\n    kept = []\n    @jit\n    def step(x, y, k):\n        nonlocal n, kept",
        "",
        2,
        "    return step, lambda: (n, kept)\n\nstep, peek = make()",
    ),
    "cell": (
        "class Model(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
        '        self.w = Parameter(Tensor([2.0, 0.5]), name="own")\n        self.v = w\n        self.k = 1\n'
        "        self.t = Tensor([1.0, 3.0])\n        self.on = False\n        self.seen = []\n"
        "    @jit\n    def construct(self, x, y, k):",
        "self",
        2,
        "\nstep = model = Model()",
    ),
}
_NUMBERS: Final = ("-2.0", "-1.5", "-1.0", "-0.5", "0.25", "0.5", "1.0", "1.75", "2.0", "3.0")


def program(seed: int) -> str:
    """The text of a module: `jit` is in its names; `drive(call)` calls the program by way of `call`.

    Args:
        seed: which one.
    """
    rng = random.Random(seed)
    shape = rng.choice(["function", "function", "closure", "cell"])
    opening, own, depth, closing = _SHAPES[shape]
    w = Writer(rng, own, depth)
    w.emit(_GLOBALS)
    if shape == "closure":
        w.names["int"] += ["n", "n"]
        w.names["list"] += ["kept", "kept"]
        w.emit("n += 1")
    while w.budget > 0:
        w.statement()
    w.emit(f"return {_returned(w)}")
    body = "\n".join([opening, *w.lines, closing])
    return completed("\n".join([body, "", *_drive(rng, shape, body)])) + "\n"


def _returned(w: Writer) -> str:
    """What a program gives back: handles and new tensors."""
    return w.one(
        w.chosen(), w.pick("handle"), f"{w.tensor()}, {w.pick('handle')}", f"[{w.tensor()}, {w.pick('int')}]",
        f"{{'t': {w.tensor()}, 'h': {w.chosen()}}}", w.tensor(),
    )  # fmt: skip


def _drive(rng: random.Random, shape: str, body: str) -> list[str]:
    """The script that calls a program with changing arguments and changes what it sees in between."""
    lines = ["def drive(call):", f"    {_GLOBALS}"]
    rows = rng.random() < 0.12
    kinds = rng.choice([["1", "2"], ["1", "2", "3"], ["2"], ["1", "True", "2.5", "-1"], ["0", "5", "2"]])
    differentiable = "int(" not in body or rng.random() < 0.3
    for number in range(rng.choice([4, 4, 4, 5, 6, 10])):
        if number and rng.random() < 0.4:
            lines.append("    " + _mutation(rng, shape))
        two = f"[{rng.choice(_NUMBERS)}, {rng.choice(_NUMBERS)}]"
        x = f"Tensor([{two}, {two}])" if rows and rng.random() < 0.5 else f"Tensor({two})"
        y = f"Tensor([{rng.choice(_NUMBERS)}, {rng.choice(_NUMBERS)}])"
        if rng.random() < 0.05:
            y = "Tensor([1, 2])"
        y = rng.choice([y, y, y, y, y, y, y, "w", "const"])
        x = rng.choice([x, x, x, x, x, x, x, x, x, "u", "latest if latest is not None else const"])
        how = "call.gradient" if differentiable and rng.random() < 0.2 else "call"
        lines.append(f"    {how}(step, {x}, {y}, {rng.choice(kinds)})")
        if rng.random() < 0.06:
            lines.append("    same = Tensor([1.0, -0.5]); call(step, same, same, 1)")
    if shape == "closure":
        lines.append("    call(peek)")
    return lines


def _mutation(rng: random.Random, shape: str) -> str:
    own = ["model.k += 1", "model.t = Tensor([0.5, -1.0])", "model.on = True", "model.v = u", "model.seen.clear()"]
    return rng.choice(
        [
            "scale += 1", "scale = 3", "flag = not flag", "net.k += 1", "net.on = not net.on", "box.n = 4",
            "scale = 0.5",
            "table['a'] = 3.0", "items.append(5)", "ops.assign(w, w + 1)", "w.requires_grad = not w.requires_grad",
            "net.t = Tensor([2.0, -1.0])", "box.t = w", "custom.k += 1", "const[0] = 2.0", "seen.clear()",
            "handles.reverse()",
            "count = 7", "named['t'] = u", "net.w = Parameter(Tensor([3.0, 1.0]), name='new')", "handle = hooked",
            "hooked.register_forward_hook(forward_hook)", "looked.n = 5", "box.extra = 2",
            "box.m += 3", "net.m = 5", "watched.m = 4",
            *(own * 2 if shape == "cell" else []),
        ]
    )  # fmt: skip


RULES: Final = (control, derivatives, handles, numbers_of_tensors)
