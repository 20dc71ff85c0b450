"""Statements that differentiate or map functions of the program, with hooks and derivatives of its own."""

from __future__ import annotations

from tests.random_programs.writer import Writer, simple


def _function(w: Writer, result: str, branches: bool = True, effects: bool = True) -> str:
    """Write a function of one tensor that reads what lies outside it.

    Args:
        w: the writer.
        result: what it returns, {} for its value.
        branches: whether tensors may decide.
        effects: whether it may do anything else.
    """
    name = w.fresh("f")
    w.emit(f"def {name}(v):")
    with w.scope():
        if branches and w.rng.random() < 0.5:
            w.emit(f"if v.{w.one('sum() > 0', 'max() > 1', 'sum() < -1')}:")
            with w.scope():
                w.emit(w.one(f"v = v * {w.read()}", f"return {result.format('((v - 1) * v)')}", "v = v + w"))
        if effects and w.rng.random() < 0.5:
            w.emit(
                w.one(
                    f"seen.append({w.read()})", f"print('in', {w.read()})", "box.n += 1",
                    f"seen.append({w.pick('int')})",
                    "ops.assign(u, u + 1)", "box.t = const + 1", "table['n'] = k", "items.append(1)",
                )
            )  # fmt: skip
        value = w.one(
            f"v * v * {w.read()}", f"v * {w.read()} + w * v", f"v * v * v + {w.read()}", "net(v) * v", "double(v) * v",
            f"custom(v) * {w.read()}", "branching(v * 3)", "hooked(v) * v", "tapped(v) * 2",
            f"v * v if {w.read()} > 2 else v",
            "counter(v) * v", "prepared(v) * v",
        )  # fmt: skip
        if w.rng.random() < 0.3 and effects:
            h = w.fresh("h")
            w.emit(f"{h} = v * 2")
            w.emit(f"{h}.register_hook({w.one('hook', 'watch', 'show', 'keep', 'lambda g: g * ' + w.read())})")
            value = f"{value} * {h}"
        w.emit(f"return {result.format(f'({value})')}")
    return name


@simple(3)
def gradient(w: Writer) -> None:
    f, x = _function(w, "{}.sum()"), w.one("x", "y", w.pick("tensor"))
    kind = w.one("grad", "grad", "value", "value", "weights", "vjp", "vjp", "jvp", "jvp")
    if kind == "grad":
        w.bind("tensor", f"grad({f})({x})")
    elif kind == "value":
        w.emit(f"seen.append(value_and_grad({f})({x}))")
    elif kind == "weights":
        w.emit(f"seen.append(grad({f}, None, [w, {w.one('u', 'net.w')}])({x}))")
    elif kind == "vjp":
        w.emit(f"seen.append(vjp({f}, {x})[1](Tensor(2.0)))")
    else:
        w.emit(f"seen.append(jvp({f}, {x}, {x} * 0 + 1))")


@simple(1.5)
def jacobian(w: Writer) -> None:
    f, x = _function(w, "{}"), w.one("x", "y")
    w.bind("tensor", f"{w.one('jacrev', 'jacfwd')}({f})({x}).sum(0)")


@simple()
def second_derivative(w: Writer) -> None:
    f, x = _function(w, "{}.sum()"), w.one("x", "y")
    w.emit(f"seen.append({w.one(f'hessian({f})({x})', f'grad(lambda v: grad({f})(v).sum())({x})')})")


@simple()
def mapped(w: Writer) -> None:
    f = _function(w, "{}", branches=False, effects=w.rng.random() < 0.5)
    x = w.one("x", "y", w.pick("tensor"))
    w.emit(f"seen.append(vmap({f})({w.one(f'ops.stack([{x}, {x}])', f'ops.stack([{x}, {x} + 1])')}))")


@simple(0.7)
def hook_outside(w: Writer) -> None:
    """A hook on a tensor whose gradient is taken outside the program."""
    h = w.bind("tensor", f"{w.one('x', 'y', 'w')} * {w.integer()}")
    w.emit(f"{h}.register_hook({w.one('hook', 'watch', 'keep', 'lambda g: g * ' + w.read())})")


@simple(0.7)
def custom_derivative(w: Writer) -> None:
    w.bind("tensor", f"{w.one('custom', 'branching', 'tapped', 'hooked')}({w.one('x', 'y', w.pick('tensor'))})")
