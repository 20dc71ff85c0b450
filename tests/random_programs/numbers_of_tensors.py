"""Statements on Python numbers that come from tensors."""

from __future__ import annotations

from tests.random_programs.writer import Writer, simple


def _number(w: Writer) -> str:
    a = w.one("x", "y", "x", w.pick("tensor"))
    return w.one(
        f"int({a}.argmax())", f"int({a}.sum())", f"{a}.argmax().item()", f"int({a}.max() > 1) + 1",
        f"({a} > 0).sum().item()", f"len({a}) - 1", f"int({a}.argmax()) + k",
    )  # fmt: skip


@simple(2)
def use_integer(w: Writer) -> None:
    n = w.bind("int", _number(w))
    t = w.pick("tensor")
    w.emit(
        w.one(
            f"seen.append({{0: 10.0, 1: 20.0}}.get({n}, 0.0))", f"seen.append({n} in {{1, 4}})",
            f"seen.append([0] * {n})", f"seen.append(list(range({n})))", f"seen.append({n}.bit_length())",
            f"seen.append(f'{{{n}}} {{{n}!r}} {{{n}:03d}}')", f"seen.append(isinstance({n}, int))",
            f"table[{n}] = {w.integer()}", f"seen.append(2 ** {n})", f"seen.append(items[{n} % 2])",
            f"seen.append('abc'[{n} % 3])", f"seen.append(({n}, {n} == k, {n} is True))",
            f"seen.append(sorted([{n}, 1, k]))", f"seen.append(divmod({n}, 2))", f"seen.append(max({n}, 1))",
            f"seen.append({t} * {n})", f"seen.append({{{n}: {t}}})", f"seen.append(sum([{n}, k]))",
            f"seen.append(Level({n} % 3))", f"seen.append(str({n}) + 'a' * {n})", f"seen.append(round({n}))",
            f"seen.append([10, 20, 30][:{n}])", f"seen.append(type({n}).__name__)", f"print({n}, {n} * 2)",
            f"seen.append((1, {n}).index({n}))", f"seen.append(hash({n}) % 7)", f"seen.append({n} << 1)",
            f"seen.append((3).__add__({n}))", f"seen.append({n} or {t})", f"seen.append({n} ** 2 % 5)",
            f"seen.append(any(v == {n} for v in items))", f"seen.append(items.count({n}))",
            f"seen.append(zip(*[items]) and {n})", f"seen.append('%d' % {n})", f"seen.append({{{n}, 1, 2}})",
            f"seen.append(getattr(box, 'nt'[{n} % 2]))", f"seen.append(({n}).real)",
            f"seen.append({n}.bit_length() + 1)", f"seen.append(-{n}.bit_length())",
            f"table[{n}] = table.get({n}, 0) + 1",
            f"seen.append(f'{{{n}}}')", f"seen.append(f'{{{n}:03d}}')", f"seen.append([{t}] * {n})",
        )
    )  # fmt: skip


@simple()
def use_float(w: Writer) -> None:
    a = w.one("x", "y", w.pick("tensor"))
    f = w.bind("float", w.one(f"{a}.sum().item()", f"float({a}.max())", f"float({a}.sum()) * 0.5"))
    w.emit(
        w.one(
            f"seen.append(f'{{{f}:.2f}}')", f"seen.append(round({f}))", f"seen.append({f} > 1 and {f})",
            f"seen.append(int({f}))", f"seen.append({f}.is_integer())", f"table[{f}] = 1", f"seen.append(str({f}))",
            f"seen.append(min({f}, 0))", f"seen.append({f} * {w.pick('tensor')})", f"seen.append({f} // 1)",
            f"seen.append(isinstance({f}, float))", f"print({f}, round({f}, 1))", f"seen.append(abs({f}))",
        )
    )  # fmt: skip


@simple()
def use_bool(w: Writer) -> None:
    b = w.bind("bool", w.one(f"bool({w.tensor_condition()})", f"not {w.tensor_condition()}", "bool(x.sum())"))
    w.emit(
        w.one(
            f"seen.append({b} is True)", f"seen.append(['no', 'yes'][{b}])", f"seen.append(int({b}))",
            f"seen.append({b})", f"seen.append(f'{{{b}}}')", f"flag_{b} = {b} and {w.pick('handle')}",
            f"seen.append({{True: 'a', False: 'b'}}[{b}])", f"seen.append({b} + 1)", f"print({b} == flag)",
            f"seen.append(not {b})",
        )
    )  # fmt: skip


@simple()
def detour(w: Writer) -> None:
    """By way of NumPy."""
    t = w.pick("tensor")
    w.emit(f"{w.fresh('array')} = {t}.asnumpy()")
    array = f"array{w.numbered}"
    w.emit(
        w.one(
            f"seen.append(float(np.max({array})))", f"seen.append({array}.tolist())",
            f"seen.append(Tensor({array}) + {w.pick('tensor')})", f"seen.append(int({array}.argmax()))",
            f"seen.append(np.where({array} > 0, 1, 0).sum().item())",
        )
    )  # fmt: skip


@simple()
def divide(w: Writer) -> None:
    """Arithmetic that may raise."""
    n = w.bind("int", _number(w))
    w.emit("try:")
    with w.scope():
        w.emit(f"seen.append({w.one(f'1 // {n}', f'1 % {n}', f'items[{n}]', f'table[{n}]', f'[5][{n}]')})")
    w.emit("except (ZeroDivisionError, LookupError) as error:")
    with w.scope():
        w.emit(w.one("seen.append(str(error))", "seen.append(type(error).__name__)", "print(error)"))


@simple()
def comprehend(w: Writer) -> None:
    """Comprehensions and generators."""
    t, n = w.pick("tensor"), w.one("2", "k", "int(x.argmax())", "len(items)")
    m = f"abs(int({n})) % 4"
    w.emit(
        w.one(
            f"seen.append([{t} * i for i in range({m})])", f"seen.append({{i: {t} + i for i in range({m})}})",
            f"seen.append(sum(v.sum() for v in [{t}, y]))", f"seen.append([v for v in steps({t}, {m})])",
            f"seen.append(next(steps({t}, {m}), None))", f"seen.append(list(zip(steps({t}, 2), items)))",
            f"seen.append([i if {w.tensor_condition()} else -i for i in range({m})])",
            f"seen.append(any({t}.sum() > i for i in range({m})))",
            "seen.append([h is w for h in handles if h.sum() > 0])", "seen.append(max(handles, key=lambda h: h.sum()))",
            "seen.append(sorted([x, y], key=lambda h: h.sum().item())[0] is x)",
        )
    )  # fmt: skip
