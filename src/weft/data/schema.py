"""Schemas: the names, element types and shapes of columns."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from weft import dtypes
from weft.data.checks import names_of


class Schema:
    """The columns of a source.

    Args:
        schema_file: path of a JSON file that lists them.

    Example:
        >>> from weft import data as ds
        >>> schema = ds.Schema()
        >>> schema.add_column("x", "float32", [2])
        >>> schema.columns
        [{'name': 'x', 'type': 'float32', 'rank': 1, 'shape': [2]}]
    """

    def __init__(self, schema_file: str | None = None) -> None:
        self.columns: list[dict[str, Any]] = []
        self.dataset_type = ""
        self.num_rows = 0
        if schema_file is not None:
            with open(schema_file, encoding="utf-8") as stream:
                self.from_json(json.load(stream))

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """Add a column.

        Args:
            name: its name.
            de_type: its element type, or the name of it.
            shape: its shape, -1 for sizes that differ; None for any.

        Raises:
            TypeError: there is no such element type.
        """
        names_of("name", name)
        text = (
            de_type if isinstance(de_type, str) else "string" if de_type is dtypes.string else str(dtypes.of(de_type))
        )
        text = text.lower()
        if text not in ("string", "bytes"):
            try:
                np.dtype(text)
            except TypeError as error:
                raise TypeError(f"Schema.add_column: {de_type!r} is no element type") from error
        column: dict[str, Any] = {"name": name, "type": text}
        if shape is not None:
            column |= {"rank": len(shape), "shape": list(shape)}
        self.columns.append(column)

    def parse_columns(self, columns: Any) -> None:
        """Add columns.

        Args:
            columns: a list of dicts with ``name``, ``type`` and perhaps ``shape``, or a dict of them by name.
        """
        if isinstance(columns, dict):
            columns = [{**facts, "name": name} for name, facts in columns.items()]
        for facts in columns:
            if "name" not in facts or "type" not in facts:
                raise RuntimeError("Schema: a column needs a name and a type")
            self.add_column(facts["name"], facts["type"], facts.get("shape"))

    def to_json(self) -> str:
        """The schema as JSON."""
        content: dict[str, Any] = {"columns": self.columns}
        if self.dataset_type:
            content["datasetType"] = self.dataset_type
        if self.num_rows:
            content["numRows"] = self.num_rows
        return json.dumps(content, indent=2, sort_keys=True)

    def from_json(self, json_obj: dict[str, Any]) -> None:
        """Take what a dict says, as `to_json` writes it.

        Args:
            json_obj: the dict.
        """
        if "columns" not in json_obj:
            raise RuntimeError("Schema: there are no columns")
        self.columns = []
        self.dataset_type = json_obj.get("datasetType", "")
        self.num_rows = int(json_obj.get("numRows", 0))
        if self.num_rows < 0:
            raise ValueError("Schema: numRows must not be negative")
        self.parse_columns(json_obj["columns"])

    def get_num_rows(self) -> int:
        """The number of rows that the schema says; 0 for all."""
        return self.num_rows
