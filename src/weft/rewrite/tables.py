"""Nodes as text: the table of a block, and a dump in the style of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.rewrite.blocks import Block
from weft.rewrite.node import Node, NodeType

_HEADERS = ("node type", "name", "codes", "arg providers", "target users")


def table_of(block: Block) -> str:
    """The table of a block's nodes.

    Args:
        block: the block.

    Returns:
        str: the title, a row for each node, and an empty line.
    """
    users: dict[Node, dict[int, list[tuple[str, int]]]] = {node: {} for node in block.nodes}
    providers = block.providers()
    for node, used in providers.items():
        for argument, (provider, target) in used.items():
            users[provider].setdefault(target, []).append((node.name, argument))
    rows = [_row(node, providers[node], users[node]) for node in block.nodes]
    return f"\n[{block.title}]\n{table([_HEADERS, *rows])}\n"


def _row(
    node: Node, providers: dict[int, tuple[Node, int]], users: dict[int, list[tuple[str, int]]]
) -> tuple[str, ...]:
    from_nodes = [[index, (other.name, target)] for index, (other, target) in providers.items()]
    to_nodes = [[target, each] for target, each in sorted(users.items())]
    return f"NodeType.{node.node_type.name}", node.name, node._code(), str(from_nodes), str(to_nodes)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows under a line of headers, in columns; a cell may have several lines.

    Args:
        rows: the headers, then the rows.

    Returns:
        str: the lines.

    Example:
        >>> print(table([("a", "name"), ("1", "x")]))
        a    name
        ---  ------
        1    x
    """
    headers, *others = rows
    columns = range(len(headers))
    widths = [
        max([len(headers[c]) + 2, *(len(line) for row in others for line in row[c].split("\n"))]) for c in columns
    ]
    lines = [_line(headers, widths), "  ".join("-" * width for width in widths)]
    for row in others:
        cells = [cell.split("\n") for cell in row]
        for at in range(max(map(len, cells))):
            lines.append(_line([cell[at] if at < len(cell) else "" for cell in cells], widths))
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def dump_of(block: Block, entry: str) -> str:
    """A block as a text in the style of a graph.

    Args:
        block: the block.
        entry: name of the function.

    Returns:
        str: the text.
    """
    inputs = [node for node in block.nodes if node.node_type is NodeType.Input]
    lines = [f"#SymbolTree entry    : @{entry}", f"#Inputs num     : {len(inputs)}"]
    lines += [f"%{node.name}" for node in inputs]
    lines += ["", f"Symbol Tree @{entry} {{"]
    numbers: dict[int, Any] = {id(node): node.name for node in inputs}
    for node in block.nodes:
        if node.node_type is NodeType.Input:
            continue
        values = [*node.get_args(), *node.get_kwargs().values()]
        providers = node.get_arg_providers()
        args = ", ".join(
            f"%{numbers[id(providers[i][0])]}" if i in providers else str(value) for i, value in enumerate(values)
        )
        if node.node_type is NodeType.Output:
            lines.append(f"  Return({args})")
            continue
        number = numbers[id(node)] = len(numbers) - len(inputs)
        kind = getattr(node.get_instance_type(), "__name__", "") if node.instance is not None else node.node_type.name
        names = ", ".join(map(str, node.get_targets()))
        lines.append(f"  %{number}({names}) = {kind}({args}){{instance name: {node.name}}}")
    return "\n".join([*lines, "}", ""])
