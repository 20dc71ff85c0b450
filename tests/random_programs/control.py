"""Statements with suites: branches, loops, exceptions, managers, functions."""

from __future__ import annotations

from tests.random_programs.writer import Writer, compound, simple


@compound(3)
def branch(w: Writer) -> None:
    w.emit(f"if {w.condition()}:")
    w.block()
    if w.rng.random() < 0.25:
        w.emit(f"elif {w.condition()}:")
        w.block()
    if w.rng.random() < 0.6:
        w.emit("else:")
        w.block()


@compound(1.5)
def counts_on_sides(w: Writer) -> None:
    """Sides that write different attributes of one object."""
    obj, first = w.one("box n", "net k", "watched n").split()
    w.emit(f"if {w.tensor_condition()}:")
    w.block(1)
    w.emit(f"    {obj}.{first} {w.one('+= 1', '= 2', '-= 1')}")
    w.emit("else:")
    w.emit(f"    {obj}.m {w.one('+= 1', '= 2', '*= 2', f'= {obj}.{first} + 1')}")


@compound(2)
def loop_over(w: Writer) -> None:
    """A loop over a known number of items, that a tensor may end."""
    i = w.fresh("i")
    head = w.one(
        f"for {i} in range({w.rng.randint(1, 3)}):", f"for {i} in range(abs(k) % 4 if isinstance(k, int) else 2):",
        f"for {i} in range(int(x.argmax()) + 1):", f"for {i} in list(items)[:3]:", f"for {i}, h in enumerate(handles):",
        f"for {i}, v in enumerate(steps({w.pick('tensor')}, 2)):", f"for {i} in (1, 2):",
    )  # fmt: skip
    w.emit(head)
    with w.scope():
        w.names["int"].append(i if "items" not in head else "1")
        if "h in" in head:
            w.names["handle"] += ["h", "h", "h"]
        if "v in" in head:
            w.names["tensor"] += ["v", "v"]
        w.in_loop += 1
        _inside_loop(w)
        w.in_loop -= 1
    if w.rng.random() < 0.2:
        w.emit("else:")
        w.block(1)


@compound(2)
def loop_while(w: Writer) -> None:
    """A loop that a tensor ends; the counter bounds it."""
    c = w.fresh("c")
    t = w.bind("tensor", w.tensor())
    w.emit(f"{c} = 0")
    w.emit(
        w.one(f"while {t}.sum() < 4 and {c} < 3:", f"while {c} < 3 and {t}.max() > -1:", f"while {t}.sum() < {c} + 2:")
    )
    with w.scope():
        w.emit(f"{c} += 1")
        w.emit(w.one(f"{t} = {t} + 1", f"{t} = {t} * 2 + 1", f"{t} = {t} - {w.integer()}"))
        w.emit(f"if {c} > 3: break")
        w.names["int"].append(c)
        w.in_loop += 1
        _inside_loop(w)
        w.in_loop -= 1


def _inside_loop(w: Writer) -> None:
    if w.rng.random() < 0.35:
        w.emit(f"if {w.condition()}: {w.one('break', 'continue', 'break')}")
    for _ in range(w.rng.randint(1, 2)):
        w.statement()


@compound(2)
def attempt(w: Writer) -> None:
    w.emit("try:")
    with w.scope():
        w.statement()
        if w.rng.random() < 0.8:
            w.emit(
                w.one(
                    f"if {w.condition()}: raise ValueError(f'stop {{{w.pick('int')}}}')",
                    f"if {w.condition()}: raise KeyError('stop', {w.integer()})",
                    f"checked({w.pick('tensor')})", "table['missing']", f"{w.pick('tensor')}.missing",
                )
            )  # fmt: skip
        if w.rng.random() < 0.3:
            w.statement()
    how = w.one("except", "except", "finally", "both")
    if how != "finally":
        w.emit("except (ValueError, LookupError, AttributeError) as error:")
        with w.scope():
            w.emit(w.one("seen.append(str(error))", "seen.append(error.args)", "print(error)", "pass"))
            if w.rng.random() < 0.5:
                w.statement()
            if w.rng.random() < 0.15:
                w.emit(w.one("raise", "raise RuntimeError('again') from error"))
    if how != "except":
        w.emit("finally:")
        w.block(1)


@simple(0.5)
def leave(w: Writer) -> None:
    """An exception or a return under a condition."""
    if w.in_function:
        return
    w.emit(f"if {w.condition()}:")
    with w.scope():
        if w.rng.random() < 0.4:
            w.emit(f"raise {w.one('ValueError', 'IndexError')}(f'leave {{{w.pick('int')}}}')")
        else:
            w.emit(f"return {w.one(w.pick('handle'), w.chosen(), w.tensor(), w.value())}")


@compound(2)
def manage(w: Writer) -> None:
    head = w.one("Guard(True)", "Guard(flag)", f"noted({w.tensor()}) as v", "contextlib.suppress(ValueError)")
    w.emit(f"with {head}:")
    with w.scope():
        if head.endswith("as v"):
            w.names["tensor"] += ["v", "v"]
        w.statement()
        if w.rng.random() < 0.5:
            w.emit(w.one(f"if {w.condition()}: raise ValueError('inside')", f"checked({w.pick('tensor')})"))
        if w.rng.random() < 0.4:
            w.statement()


@compound()
def closure(w: Writer) -> None:
    """A function that writes to variables of the program."""
    name, n, t = w.fresh("f"), w.bind("int", w.integer()), w.bind("tensor", w.tensor())
    w.emit(f"def {name}(v):")
    with w.scope():
        w.emit(f"nonlocal {n}, {t}")
        w.names["tensor"] += ["v", "v"]
        w.emit(w.one(f"{n} += 1", f"{n} = int(v.argmax())", f"{n} = {w.integer()}"))
        if w.rng.random() < 0.6:
            w.emit(f"if {w.condition()}:")
            with w.scope():
                w.emit(w.one(f"{t} = {w.tensor()}", f"{n} += 2", f"return {w.tensor()}"))
        w.in_function += 1
        w.statement()
        w.in_function -= 1
        w.emit(w.one(f"return v + {t}", f"return v * {n}", f"return {t}"))
    w.names["tensor"].append(w.bind("tensor", f"{name}({w.pick('tensor')})"))
    w.emit(f"seen.append({n})")
