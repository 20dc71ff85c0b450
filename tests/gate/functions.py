"""Native functions as operations: those of the interpreter, sixty and more of its library, some that nobody knows."""

from __future__ import annotations

import builtins
import operator
import re
from typing import Final

#: builtins that end the process, read from the terminal, or tell addresses (statements compare these)
_LEFT_OUT: Final = {
    "exit",
    "quit",
    "input",
    "breakpoint",
    "help",
    "copyright",
    "credits",
    "license",
    "open",
    "id",
    "hash",
}
#: builtins that run text, define classes or look at the running frame: statements test them
_BY_STATEMENT: Final = {"exec", "eval", "compile", "__import__", "__build_class__", "globals", "locals", "super"}


def _builtins() -> list[str]:
    """Names of the builtins that a program calls, exception classes left out."""
    return [
        name
        for name, value in vars(builtins).items()
        if callable(value)
        and (not name.startswith("_") or name.startswith("__"))
        and name not in _LEFT_OUT | _BY_STATEMENT
        and not (isinstance(value, type) and issubclass(value, BaseException))
        and name not in {"__loader__", "__spec__"}
    ]


BUILTINS: Final = _builtins()
EXCEPTIONS: Final = ["ValueError", "KeyError", "StopIteration", "OSError", "UnicodeError", "Exception"]
OPERATOR: Final = [f"operator.{name}" for name in operator.__all__]

LIBRARY: Final = [
    *(
        f"math.{name}"
        for name in (
            "sqrt", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "copysign", "fabs", "exp", "log", "log2",
            "pow", "sin", "atan2", "hypot", "fmod", "gcd", "lcm", "factorial", "comb", "isqrt", "prod", "fsum", "dist",
            "frexp", "ldexp", "modf", "degrees", "isclose", "nextafter", "perm",
        )
    ),
    *(
        f"itertools.{name}"
        for name in (
            "chain", "chain.from_iterable", "count", "cycle", "repeat", "product", "permutations", "combinations",
            "islice", "accumulate", "groupby", "starmap", "takewhile", "dropwhile", "zip_longest", "compress", "tee",
            "pairwise", "filterfalse",
        )
    ),
    *(f"functools.{name}" for name in ("reduce", "partial", "cmp_to_key", "lru_cache", "wraps", "cached_property")),
    *(
        f"collections.{name}"
        for name in ("Counter", "OrderedDict", "defaultdict", "deque", "ChainMap", "namedtuple", "UserList")
    ),
    *(
        f"np.{name}"
        for name in (
            "array", "asarray", "sum", "mean", "dot", "where", "argmax", "sort", "concatenate", "stack", "zeros",
            "ones", "arange", "full", "maximum", "sqrt", "abs", "isnan", "isscalar", "ndim", "shape", "int64",
            "float32", "float64", "bool_", "dtype", "broadcast_shapes", "prod", "cumsum", "unique", "array_equal",
            "allclose", "linspace", "searchsorted", "clip", "result_type",
        )
    ),
    *(f"copy.{name}" for name in ("copy", "deepcopy")),
    *(f"random.Random(3).{name}" for name in ("randrange", "uniform", "choice", "sample", "shuffle")),
    *(f"random.{name}" for name in ("Random", "seed")),
    "dataclasses.replace", "dataclasses.asdict", "dataclasses.astuple", "dataclasses.is_dataclass",
]  # fmt: skip

#: functions of C and Python modules that a capture cannot know one by one
UNKNOWN: Final = [
    "struct.pack", "struct.calcsize", "zlib.crc32", "zlib.compress", "binascii.hexlify", "binascii.crc32", "bisect.bisect",
    "bisect.bisect_left", "bisect.insort", "heapq.heappush", "heapq.heapify", "heapq.nlargest", "heapq.merge", "json.dumps",
    "json.loads", "pickle.dumps", "marshal.dumps", "statistics.mean", "statistics.median", "statistics.fmean",
    "statistics.pstdev", "colorsys.rgb_to_hsv", "fractions.Fraction", "decimal.Decimal", "datetime.timedelta",
    "datetime.date", "datetime.date.fromordinal", "re.match", "re.findall", "re.sub", "re.escape", "array.array",
    "cmath.phase", "cmath.sqrt", "hashlib.md5", "base64.b64encode", "textwrap.shorten", "pprint.pformat", "reprlib.repr",
    "string.capwords", "string.Template", "unicodedata.name", "unicodedata.normalize", "types.SimpleNamespace",
    "types.MappingProxyType", "io.StringIO", "io.BytesIO", "calendar.isleap", "calendar.monthrange", "fnmatch.fnmatch",
    "keyword.iskeyword", "shlex.split", "shlex.quote", "urllib.parse.quote", "uuid.UUID", "ast.literal_eval", "sys.intern",
    "operator.itemgetter(1)", "operator.attrgetter('k')", "operator.methodcaller('index', 1)",
    "functools.partial(pow, 2)", "functools.partial(pair, 2)", "sorted.__call__", "E", "F", "NT._make", "NT", "Missing", "Mine", "Num",
    "P", "S", "D", "keyed", "first", "pair", "same", "dict.fromkeys", "str.maketrans", "bytes.fromhex", "float.fromhex",
    "int.from_bytes", "int.__add__", "int.__new__", "tuple.__new__", "float.__new__", "object.__new__", "type.__call__",
    "(lambda a, *b: (a, b))", "TABLE.get", "TABLE.__getitem__", "Missing(TABLE).__getitem__", "{**TABLE}.pop", "[5, 6, 7].pop",
    "[1, 2, 2].index", "[1, 2, 2].count", "{1, 2}.discard", "(1, 2).__contains__", "NUMBERS.count", "'abcabc'.find",
    "collections.deque([1, 2, 3]).rotate", "collections.Counter('aab').most_common", "np.arange(6).reshape", "np.arange(6).take",
    "np.arange(6).item", "np.random.default_rng", "memoryview(b'abc').__getitem__", "ops.full", "Tensor", "ops.arange", "ops.scalar_to_tensor"
]  # fmt: skip

#: argument lists to try, the likeliest first; C is a constant that fits the operand
SHAPES: Final = (
    "v",
    "v, C",
    "C, v",
    "v, v",
    "[v]",
    "[v, C]",
    "[3, 1, 2], v",
    "v, [3, 1, 2]",
    "(v, C)",
    "*v",
    "**v",
    "v, v, v",
    "v, C, C",
    "C, C, v",
    "C, v, C",
    "same, v",
    "same, [v, C]",
    "v, 'k'",
    "'k', v",
    "P(1), 'k', v",
    "v, 'k', 2",
    "v, 'real'",
    "v, int",
    "v, (int, str)",
    "v, P",
    "'bbi', v, v, v",
    "'<q', v",
    "'<d', v",
    "'i', [v]",
    "'d', [v, 1.5]",
    "str, v",
    "int, v",
    "'a', v",
    "'ab', 'cab', v",
    "v, 'cab'",
    "'%s', v",
    "v, '.3'",
    "v, 'f'",
    "lambda a, b: (a, b), v",
    "lambda a: a == v, [0, 1, 2, v]",
    "first, [(v, 1), (v, 2)]",
    "pair, v",
    "pair, [1, 2], v",
    "[1, 2], [v, 0]",
    "[v, v], key=same",
    "v, key=repr",
    "v, default=None",
    "[], default=v",
    "[1.5, -2.5], key=lambda a: a * v",
    "[0, 1], repeat=v",
    "start=v",
    "a=v",
    "v, start=2",
    "iterable=v",
    "v, 5, 2",
    "range(9), v",
    "range(9), v, None",
    "'X', v",
    "'X', 'a b', defaults=[v]",
    "[1, 2, 3], k=v",
    "days=v",
    "2024, v",
    "(v, 2)",
    "{'a': v}",
    "{'k': [v, 1]}",
    "[1, 2], v, True",
    "'{}'.format(v)",
    "str(v)",
    "repr(v)",
    "repr(v), 'utf8'",
    "repr(v).encode()",
    "b'abc', v",
    "1.5, v",
    "2, v",
    "(2, v), 1.5",
    "v, np.int64",
    "v, dtype=float",
    "[v, C], indent=1",
    "v, [7, 8, 9], 4",
    "range(3), v, [5, 6]",
    "D(v)",
    "D(1), k=v",
    "v, k=1",
)
#: operations whose work or memory grows with the size of an int
COUNTS_UP: Final = re.compile(
    r"pow|shift|factorial|comb|perm|repeat|range|mul|concat|bytes|zeros|ones|full|linspace|islice|just|center|zfill"
    r"|expandtabs|sample|product|fromordinal|nlargest|lcm|ldexp|shorten|Decimal|Fraction|dumps|rotate|broadcast"
    r"|__round__|ops\.|np\.|reshape|tile|Tensor\(|while|for |count\(|Random|default_rng|Counter|deque"
    r"|\*\*|<<|[\])'] \* v|v \* ['\[(]|range\("
)


def counts_up(operation: str) -> bool:
    """Whether an operation could take forever with a large number."""
    return COUNTS_UP.search(operation) is not None
