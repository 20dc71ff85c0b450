"""Statements on handles: aliases, writes in place, objects from outside."""

from __future__ import annotations

from tests.random_programs.writer import Writer, simple


@simple(2)
def compute(w: Writer) -> None:
    w.bind("tensor", w.tensor())


@simple(2)
def write_chosen(w: Writer) -> None:
    """One of several tensors, chosen by a tensor, is written in place."""
    name = w.bind("handle", w.chosen())
    w.names["tensor"].append(name)
    if w.rng.random() < 0.7:
        write_handle(w, name)


@simple(2)
def write_any(w: Writer) -> None:
    write_handle(w, w.pick("handle"))


def write_handle(w: Writer, name: str) -> None:
    """Write to a tensor or parameter in place."""
    source = w.one(f"{name} + 1", f"{name} * 0.5", w.pick("tensor"), w.pick("int"))
    parameter = name in w.names["parameter"]
    w.emit(
        w.one(
            f"ops.assign({name}, {source})" if source not in w.names["int"] else f"ops.assign({name}, {name} - 1)",
            f"{name}[0] = {w.one('100.0', w.pick('int'), w.pick('tensor') + '[0]')}",
            f"{name}[int(x.argmax()) % 2] = {w.integer()}",
            f"ops.assign_add({name}, {w.pick('tensor')})" if parameter else f"{name}[1] += {w.integer()}",
            f"{name}.set_data({w.pick('tensor')} + 1)" if parameter else f"{name}[:] = {w.integer()}",
            f"{name} += {w.pick('tensor')}" if "." in name else f"{name}[{name} > 1] = 0.5",
        )
    )


@simple()
def second_name(w: Writer) -> None:
    """Two names for one handle; one is written, both are read."""
    handle = w.pick("handle")
    name = w.bind("handle", handle)
    write_handle(w, w.one(name, handle))
    w.bind("tensor", f"{handle} + {name}")


@simple()
def compare_identity(w: Writer) -> None:
    a, b = w.pick("handle"), w.pick("handle")
    w.emit(w.one(f"seen.append({a} is {b})", f"print({a} is {b}, {a} is not y)", f"seen.append({a} in [{b}] * 0)"))


@simple()
def write_list(w: Writer) -> None:
    a, v = w.pick("list"), w.value()
    w.emit(
        w.one(
            f"{a}.append({v})", f"{a}.append({v})", f"{a}[:1] = [{v}]", f"if {a}: {a}[-1] = {v}", f"if {a}: {a}.pop()",
            f"if len({a}) > 4: del {a}[1:3]", f"{a}.insert(0, {v})", f"{a}.extend([{v}, {w.value()}])",
            f"if {a} is not alias: {a}.clear()",
        )
    )  # fmt: skip


@simple()
def write_dict(w: Writer) -> None:
    key = w.one("'a'", "k", "'t'", "len(seen) % 3", "'w'", "int(x.argmax())")
    w.emit(
        w.one(
            f"table[{key}] = {w.integer()}", f"named['t'] = {w.pick('tensor')}", f"named['w'] = {w.pick('parameter')}",
            f"table.pop({key}, None)", f"table.setdefault({key}, {w.integer()})", f"nested['in'][0] = {w.tensor()}",
            "nested['n'] += 1", f"nested['in'][1].append({w.pick('handle')})",
        )
    )  # fmt: skip


@simple()
def write_attribute(w: Writer) -> None:
    obj = w.pick("object")
    if obj in ("net", w.own):
        w.emit(w.one(f"{obj}.k = {w.integer()} + 1", f"{obj}.t = {w.tensor()}", f"{obj}.on = {w.condition()}"))
        return
    w.emit(
        w.one(
            f"{obj}.t = {w.tensor()}", f"{obj}.n = {w.integer()} + 1", f"{obj}.n += 1", f"{obj}.t = {w.pick('handle')}",
            f"setattr({obj}, 'n', {w.integer()})", "box.twice = k", f"box.bump({w.integer()}).t = {w.tensor()}",
            "box.__dict__['n'] = k", "watched.n += 1", "watched.t = x", "watched.__dict__['n'] = 3; watched.n += 1",
            f"tied.n = {w.integer()}",
        )
    )  # fmt: skip


@simple(1.5)
def read_object(w: Writer) -> None:
    walks = ["len(net.trainable_params())", "len([name for name, _ in tied.parameters_and_names()])"]
    own = ["lazy.size", "looked.n", "box.twice", "watched.n", "getattr(box, 'extra', 1)", "slots.n", "lazy.a"]
    w.bind("int", w.one(*own, "box.m", "net.m", *walks))


@simple()
def write_global(w: Writer) -> None:
    if not w.in_function:
        w.emit(
            w.one(
                f"scale = {w.integer()} + 1", "count += 1", f"latest = {w.pick('handle')}", f"latest = {w.tensor()}",
                f"flag = {w.condition()}",
            )
        )  # fmt: skip


@simple()
def call_cell(w: Writer) -> None:
    w.bind("tensor", f"{w.one('net', 'tied', 'hooked', 'prepared', 'tapped', 'custom')}({w.pick('tensor')})")


@simple()
def show(w: Writer) -> None:
    w.emit(
        w.one(
            f"print({w.integer()}, {w.pick('tensor')}.sum())", f"print(f'{{{w.pick('int')}}} {{{w.integer()}!r}}')",
            f"print(repr({w.pick('tensor')}))", f"print('%r' % ({w.pick('tensor')},))", f"print({w.pick('list')})",
            f"seen.append(f'{{{w.pick('tensor')}}}')", f"seen.append(str({w.pick('tensor')}))",
            f"print(len({w.pick('list')}), sep='-')",
        )
    )  # fmt: skip
