"""The collectives in the text of a compiled program, and what they move."""

from __future__ import annotations

import pytest

from weft.explain.collectives import Instruction, Moved, collectives_of


def program(*lines: str, before: str = "") -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"HloModule jit_f, is_scheduled=true\n\n{before}\nENTRY %main (p: f32[8,2]) -> f32[8,2] {{\n{body}\n}}\n"


def only(*lines: str, devices: int = 8, before: str = "") -> Instruction:
    (found,) = collectives_of(program(*lines, before=before), devices)
    return found


FOURS, TWOS = ((0, 1, 2, 3), (4, 5, 6, 7)), ((0, 4), (1, 5), (2, 6), (3, 7))


@pytest.mark.parametrize(
    ("written", "groups"),
    [
        ("{{0,1,2,3},{4,5,6,7}}", FOURS),
        ("{}", (tuple(range(8)),)),
        ("[2,4]<=[8]", FOURS),
        ("[4,2]<=[2,4]T(1,0)", TWOS),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_1'}", FOURS),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_0'}", TWOS),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_0','axis_1'}", (tuple(range(8)),)),
        ("mesh['axis_0'=4,'axis_1'=1,'axis_2'=2], device_ids=([2,4]T(1,0)) {'axis_0'}", FOURS),
        ("mesh['axis_0'=4,'axis_1'=2], device_ids=([2,2,2]T(0,2,1)) {'axis_0':(2)2}", ((0, 1), (2, 3), (4, 5), (6, 7))),
        ("mesh['a'=8] {'a':(1)2}", TWOS),
    ],
)
def test_groups(written: str, groups: tuple[tuple[int, ...], ...]) -> None:
    found = only(f"ROOT %a = f32[8,2]{{1,0}} all-reduce(%p), channel_id=1, replica_groups={written}, to_apply=%add")
    assert set(map(frozenset, found.groups)) == set(map(frozenset, groups))


@pytest.mark.parametrize(
    ("line", "kind", "result", "moved"),
    [
        ("f32[8,2]{1,0} all-reduce(%p), replica_groups=[2,4]<=[8]", "all-reduce", ("f32[8,2]",), Moved(96, 768)),
        ("f32[8,2]{1,0} all-gather(%p), replica_groups=[2,4]<=[8]", "all-gather", ("f32[8,2]",), Moved(48, 384)),
        (
            "bf16[8,2]{1,0} reduce-scatter(%p), replica_groups=[2,4]<=[8]",
            "reduce-scatter",
            ("bf16[8,2]",),
            Moved(96, 768),
        ),
        (
            "(s8[4], pred[4]) all-to-all(%p, %q), replica_groups=[4,2]<=[8]",
            "all-to-all",
            ("s8[4]", "pred[4]"),
            Moved(4, 32),
        ),
        (
            "(f32[], /*index=1*/c64[2]{0}) all-reduce(%p, %q), replica_groups={{0,1}}",
            "all-reduce",
            ("f32[]", "c64[2]"),
            Moved(20, 40),
        ),
        (
            "f64[4]{0} collective-permute(%p), source_target_pairs={{0,1},{1,0},{2,2}}",
            "collective-permute",
            ("f64[4]",),
            Moved(32, 64),
        ),
        ("f32[8]{0:T(256)} all-reduce-start(%p), replica_groups={{0,1}}", "all-reduce", ("f32[8]",), Moved(32, 64)),
        (
            "(f32[2]{0}, f32[8]{0:T(8,128)(2,1)S(1)}) all-gather-start(%p), replica_groups={{0,1,2,3}}",
            "all-gather",
            ("f32[8]",),
            Moved(24, 96),
        ),
        (
            "((f32[2], u8[2]), (f32[4], u8[4])) all-gather-start(%p, %q), replica_groups={{0,1}}",
            "all-gather",
            ("f32[4]", "u8[4]"),
            Moved(10, 20),
        ),
        (
            "(f32[8]{0}, f32[8]{0}, u32[], u32[]) collective-permute-start(%p), source_target_pairs={{0,1}}",
            "collective-permute",
            ("f32[8]",),
            Moved(32, 32),
        ),
        ("f8e4m3fn[8] all-gather(%p), replica_groups={{0,1}}", "all-gather", ("f8e4m3fn[8]",), Moved(4, 8)),
        ("s4[8] all-gather(%p), replica_groups={{0,1}}", "all-gather", ("s4[8]",), Moved(2, 4)),
        (
            "f32[4] collective-broadcast(%p), replica_groups={{0,1,2}}",
            "collective-broadcast",
            ("f32[4]",),
            Moved(16, 32),
        ),
    ],
)
def test_kinds_and_bytes(line: str, kind: str, result: tuple[str, ...], moved: Moved) -> None:
    found = only(f'%a = {line}, metadata={{op_name="jit(f)/add" stack_frame_id=3}}')
    assert (found.kind, found.result, found.moved, found.name) == (kind, result, moved, "jit(f)/add")
    assert (found.runs, found.is_sure) == (1, True)


def test_other_instructions_are_none() -> None:
    lines = ("%s = f32[8] all-reduce-start(%p), replica_groups={{0,1}}", "%d = f32[8] all-reduce-done(%s)",
             '%t = f32[8] add(%d, %d), metadata={op_name="all-reduce(x)"}')  # fmt: skip
    assert only(*lines).kind == "all-reduce"


INSIDE = "  %r = f32[4] all-reduce(%x), replica_groups={{0,1}}, to_apply=%add\n"


def computation(name: str, *lines: str) -> str:
    return f"%{name} (x: f32[4]) -> f32[4] {{\n{''.join(lines)}}}\n\n"


def looped(name: str, trips: int | None) -> str:
    known = "" if trips is None else f', backend_config={{"known_trip_count":{{"n":"{trips}"}},"other":{{}}}}'
    return f"%w.{name} = f32[4] while(%p), condition=%never, body=%{name}{known}"


def test_loops() -> None:
    inner = computation("inner", INSIDE)
    outer = computation("outer", f"  {looped('inner', 3)}\n", INSIDE)
    found = collectives_of(program(looped("outer", 5), before=inner + outer), 8)
    assert [each.runs for each in found] == [15, 5]
    assert [each.runs for each in collectives_of(program(looped("outer", None), before=inner + outer), 8)] == [None] * 2
    condition = computation("never", INSIDE)
    assert only(looped("missing", 4), before=condition).runs == 5  # once more than the body


def test_branches() -> None:
    sides = computation("yes", INSIDE) + computation("no", INSIDE)
    for branches in ("branch_computations={%yes, %no}", "true_computation=%yes, false_computation=%no"):
        found = collectives_of(program(f"%c = f32[4] conditional(%p, %x, %y), {branches}", before=sides), 8)
        assert [(each.runs, each.is_sure) for each in found] == [(1, False)] * 2


def test_calls() -> None:
    callee = computation("callee", INSIDE)
    lines = ("%a = f32[4] call(%p), to_apply=%callee", "%b = f32[4] fusion(%a), kind=kLoop, calls=%callee",
             "%s = ((f32[4]), f32[4], u32[]) async-start(%b), calls=%callee",
             "%d = f32[4] async-done(%s), calls=%callee")  # fmt: skip
    assert len(collectives_of(program(*lines, before=callee), 8)) == 3


def test_names_with_quotes() -> None:
    assert only(r'%a = f32[4] all-reduce(%p), metadata={op_name="say \"hi\""}').name == 'say "hi"'
