"""What C code and library code reads for the program, of modules, classes and objects, is seen when it changes.

Each case reads something of the settings below, directly or through a builtin; between calls they are changed.
"""

from __future__ import annotations

import abc
import bisect
import collections
import copy
import dataclasses
import enum
import functools
import heapq
import inspect
import itertools
import json
import math
import operator
import os
import pickle
import types
import typing
from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor

X = Tensor([1.0, 2.0])


def default_call(self: Any, x: Any) -> Any:
    return x * K.k


class K:
    """Every special method reads the class."""

    k = 2.0
    m: Any = default_call

    def prop(self):
        return self.k

    def __length_hint__(self):
        return int(K.k)

    def __lt__(self, o):
        return K.k > 3

    def __call__(self, x):
        return x * K.k

    def __add__(self, o):
        return K.k

    def __radd__(self, o):
        return K.k

    def __eq__(self, o):
        return K.k > 3

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, i):
        return K.k

    def __index__(self):
        return int(K.k)

    def __len__(self):
        return int(K.k)

    def __iter__(self):
        return iter([K.k])

    def __contains__(self, o):
        return K.k > 3

    def __dir__(self):
        return ["a"] * int(K.k)

    def __neg__(self):
        return K.k

    def __bool__(self):
        return K.k > 3

    def __int__(self):
        return int(K.k)

    def __float__(self):
        return K.k

    def __round__(self, n=0):
        return K.k

    def __str__(self):
        return str(K.k)

    def __format__(self, s):
        return str(K.k)

    def __missing__(self, k):
        return K.k

    def __divmod__(self, o):
        return K.k

    def __pow__(self, o, m=None):
        return K.k

    def __reversed__(self):
        return iter([K.k])

    def __fspath__(self):
        return str(K.k)

    def __bytes__(self):
        return bytes([int(K.k)])

    def __trunc__(self):
        return int(K.k)

    def __ceil__(self):
        return int(K.k)

    def __complex__(self):
        return complex(K.k)

    def __instancecheck__(self, o):
        return K.k > 3


class Plain:
    a: int = 1

    def f(self):
        return K.k


class Ordered:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == other.v

    def __lt__(self, other):
        return (self.v < other.v) is (mod.lr < 3)

    __hash__ = None  # type: ignore[assignment]


Tot = functools.total_ordering(Ordered)


@dataclasses.dataclass
class Held:
    a: float = 1.0


class En(enum.Enum):
    A = 1


class Missing(dict):
    def __missing__(self, key):
        return mod.lr


class Asking(type):
    def __subclasscheck__(cls, sub):
        return mod.lr > 2


class Meta(metaclass=Asking):
    pass


o, o2, plain, dc, dm = K(), K(), Plain(), Held(), Missing()
mod: Any = types.ModuleType("settings")
mod2: Any = types.ModuleType("fallback")
mod2.__getattr__ = lambda name: mod.lr
GET, MC = operator.attrgetter("lr"), operator.methodcaller("__getattribute__", "lr")


@functools.lru_cache
def _once(a):
    return a


def cached(a):
    return _once(a) * mod.lr


@functools.singledispatch
def sd(v):
    return "object"


def mat(v):
    match v:
        case AnABC():
            return 1
    return 2


def reset() -> None:
    """The settings as they are at the first call."""
    global AnABC, Impl, impl
    AnABC = abc.ABC.__class__("AnABC", (), {})
    Impl = type("Impl", (), {})
    impl = Impl()
    K.k, K.m = 2.0, default_call
    mod.__dict__.update(lr=1.0, sub=types.SimpleNamespace(lr=2.0, flag=True), d={"a": 1.0}, l=[1.0, 2.0])
    mod.__dict__.update(f=lambda x: x, dd={"a": 1, "z": 2}, o=o)
    mod.__dict__.pop("extra", None)
    if "new" in Plain.__dict__:
        del Plain.new
    plain.__dict__.update(z=1)
    plain.__dict__.pop("y", None)
    dc.a = 1.0


def change() -> None:
    mod.sub.__dict__.update(lr=6.0, flag=False)
    mod.d["a"] = 7.0
    mod.l[:] = [3.0, 4.0]
    mod.dd["a"] = 3
    mod.__dict__.update(lr=5.0, f=lambda x: x * 9, extra=1)
    Plain.new = plain.y = 1  # type: ignore[attr-defined]
    dc.a = 3.0


CHANGES: tuple[Callable[[], Any], ...] = (
    change,
    lambda: setattr(K, "k", 4.0),
    lambda: setattr(K, "m", lambda self, x: x * 100),
    lambda: AnABC.register(Impl),
    lambda: setattr(mod, "lr", 1.0),
)

CASES: dict[str, Callable[[Any], Any]] = {
 'defaultdict lambda': lambda x: collections.defaultdict(lambda: mod.lr)['a']*x,
 'key d.get': lambda x: sorted(['a','z'],key=mod.dd.get)[0],
 'key getitem': lambda x: sorted(['a','z'],key=mod.dd.__getitem__)[0],
 'max d.get': lambda x: max(['a','z'],key=mod.dd.get)[0],
 'from_iterable gen': lambda x: list(itertools.chain.from_iterable(g.l for g in [mod])),
 'dir()': lambda x: dir(),
 'dir inst': lambda x: dir(mod.sub),
 'dir class': lambda x: dir(Plain),
 'dir inst2': lambda x: len(dir(plain)),
 'getmembers': lambda x: len(inspect.getmembers(mod)),
 'getmembers K': lambda x: len(inspect.getmembers(Plain)),
 'get_annotations': lambda x: inspect.get_annotations(Plain),
 'signature': lambda x: str(inspect.signature(Plain.f)),
 'getdoc': lambda x: inspect.getdoc(Plain),
 'hints': lambda x: typing.get_type_hints(Plain),
 'fields': lambda x: operator.attrgetter('f.__name__')(Plain),
 'partial method': lambda x: functools.partial(operator.methodcaller('m',x))(o),
 'mapmc': lambda x: list(map(operator.methodcaller('m',x),[o])),
 'mapitem': lambda x: list(map(operator.itemgetter('a'),[mod.d])),
 'getter outside': lambda x: GET(mod)*x,
 'methodcaller outside': lambda x: MC(mod)*x,
 'str mod': lambda x: str(mod),
 'repr K': lambda x: repr(Plain),
 'type name': lambda x: Plain.__name__,
 'lru': lambda x: cached(1)*x,
 'total': lambda x: Tot(1)>Tot(2),
 'single': lambda x: sd(plain),
 'reduce_ex': lambda x: plain.__reduce_ex__(2)[2],
 'getattr m': lambda x: getattr(plain,'f')(),
 'pickle': lambda x: pickle.loads(pickle.dumps(mod.l)),
 'json': lambda x: json.dumps(mod.d),
 'asdict': lambda x: dataclasses.asdict(dc),
 'enum': lambda x: [e.value for e in En],
 'chainmap': lambda x: collections.ChainMap(mod.d)['a'],
 'bound call': lambda x: mod.d.get.__call__('a'),
 'wrapper': lambda x: dict.get(mod.d,'a'),
 'wr': lambda x: type(mod).__getattribute__(mod,'lr'),
 'attrgetter of getattr': lambda x: operator.attrgetter('zz')(mod2),
 'itemgetter missing': lambda x: operator.itemgetter('zz')(dm),
 'cls call': lambda x: operator.attrgetter('f')(Plain)(plain),
 'attrgetter': lambda x: x*operator.attrgetter('lr')(mod),
 'attrgetter dotted': lambda x: x*operator.attrgetter('sub.lr')(mod),
 'attrgetter many': lambda x: [x*v for v in operator.attrgetter('sub.lr','lr')(mod)],
 'attrgetter class': lambda x: x*operator.attrgetter('k')(K),
 'attrgetter inst': lambda x: x*operator.attrgetter('k')(o),
 'itemgetter': lambda x: x*operator.itemgetter('a')(mod.d),
 'itemgetter2': lambda x: x*operator.itemgetter(0,1)(mod.l)[1],
 'itemgetter user': lambda x: x*operator.itemgetter(0)(o),
 'methodcaller': lambda x: operator.methodcaller('m',x)(o),
 'methodcaller mod': lambda x: operator.methodcaller('f',x)(mod),
 'call': lambda x: operator.call(o,x),
 'reduce': lambda x: functools.reduce(lambda a,b: a*mod.lr,[x,x]),
 'reduce attr': lambda x: x*functools.reduce(getattr,['sub','lr'],mod),
 'reduce add': lambda x: x*functools.reduce(operator.add,[o,o]),
 'map': lambda x: [x*v for v in map(operator.attrgetter('lr'),[mod])],
 'map getattr': lambda x: [x*v for v in map(getattr,[mod],['lr'])],
 'getattr default': lambda x: x*getattr(mod,'nothing',3.),
 'getattr': lambda x: x*getattr(mod,'lr',3.),
 'partial': lambda x: x*functools.partial(getattr,mod,'lr')(),
 'partial attrg': lambda x: x*functools.partial(operator.attrgetter('lr'),mod)(),
 'MethodType': lambda x: x*types.MethodType(getattr,mod)('lr'),
 'MethodType2': lambda x: types.MethodType(K.m,o)(x),
 'cmp_to_key': lambda x: x*sorted([1.,2.,3.],key=functools.cmp_to_key(lambda a,b: (a-b)*(1 if mod.lr<2 else -1)))[0],
 'cmp_to_key2': lambda x: x*min([1.,2.,3.],key=functools.cmp_to_key(lambda a,b: (a-b)*(1 if K.k<3 else -1))),
 'length_hint': lambda x: x*operator.length_hint(o),
 'vars mod': lambda x: x*vars(mod)['lr'],
 'vars class': lambda x: x*vars(K)['k'],
 'vars get': lambda x: x*vars(mod).get('lr'),
 'dict': lambda x: x*mod.__dict__['lr'],
 'dir': lambda x: x*len(dir(o)),
 'dir mod': lambda x: x*len(dir(mod)),
 'sum': lambda x: x*sum([o,o]),
 'max key': lambda x: x*max([1.,2.,-7.],key=lambda v: v*mod.lr if mod.lr<3 else -v),
 'max attr': lambda x: x*max([mod],key=operator.attrgetter('lr')).lr,
 'sorted': lambda x: x*sorted([mod,mod.sub],key=operator.attrgetter('lr'))[0].lr,
 'sorted lt': lambda x: sorted([o,o2])[0] is o,
 'contains': lambda x: operator.contains(o,1),
 'countOf': lambda x: operator.countOf([o],1),
 'indexOf': lambda x: operator.indexOf([1,o,1.],1),
 'index': lambda x: x*operator.index(o),
 'neg': lambda x: x*operator.neg(o),
 'not': lambda x: operator.not_(o),
 'truth': lambda x: operator.truth(o),
 'eq': lambda x: operator.eq(o,1),
 'lt': lambda x: operator.lt(o,1),
 'getitem': lambda x: x*operator.getitem(o,1),
 'concat': lambda x: operator.concat([1],[K.k]),
 'pow': lambda x: x*pow(o,2,5),
 'pow2': lambda x: x*operator.pow(o,2),
 'divmod': lambda x: x*divmod(o,2),
 'round': lambda x: x*round(o),
 'int': lambda x: x*int(o)+float(o),
 'complex': lambda x: complex(o).real*x,
 'bytes': lambda x: bytes(o)[0]*x,
 'str': lambda x: float(str(o))*x,
 'format': lambda x: float('{}'.format(o))*x,
 'percent': lambda x: float('%s'%o)*x,
 'percent d': lambda x: float('%d'%o)*x,
 'format nested': lambda x: '{}'.format([mod.sub]),
 'format attr': lambda x: float('{0.lr}'.format(mod))*x,
 'format attr2': lambda x: float('{m.sub.lr}'.format(m=mod))*x,
 'format_map': lambda x: float('{m.sub.lr}'.format_map({'m':mod}))*x,
 'format_map2': lambda x: float('{m}'.format_map({'m':o}))*x,
 'in list': lambda x: 1 in [o],
 'list.index': lambda x: [1,2,o].index(2),
 'list.count': lambda x: [o,1].count(7),
 'list': lambda x: list(o)[0]*x,
 'tuple.index': lambda x: (1,o,3).count(3),
 'min': lambda x: min(o,o2) is o,
 'any': lambda x: any([o]),
 'filter': lambda x: len(list(filter(None,[o,1]))),
 'filter2': lambda x: len(list(filter(operator.attrgetter('ok'),[types.SimpleNamespace(ok=mod.lr>2)]))),
 'zip': lambda x: list(zip(o))[0],
 'enumerate': lambda x: list(enumerate(o)),
 'reversed': lambda x: list(reversed(o)),
 'next': lambda x: next(iter(o)),
 'math.ceil': lambda x: math.ceil(o)*x,
 'math.sqrt': lambda x: math.sqrt(o)*x,
 'math.floor': lambda x: math.floor(o)*x,
 'math.prod': lambda x: math.prod(o)*x,
 'fsum': lambda x: math.fsum(o)*x,
 'accumulate': lambda x: list(itertools.accumulate([1,2],lambda a,b: a*mod.lr)),
 'accumulate2': lambda x: list(itertools.accumulate([o,o2],operator.add))[1],
 'starmap': lambda x: list(itertools.starmap(getattr,[(mod,'lr')])),
 'takewhile': lambda x: list(itertools.takewhile(lambda v: v<mod.lr,[1,2,3,4])),
 'takewhile ag': lambda x: len(list(itertools.takewhile(operator.attrgetter('flag'),[mod.sub]))),
 'groupby ag': lambda x: [k for k,_ in itertools.groupby([mod.sub],operator.attrgetter('lr'))],
 'groupby': lambda x: [k for k,_ in itertools.groupby([1,2],lambda v: v*mod.lr)],
 'dropwhile mc': lambda x: len(list(itertools.dropwhile(operator.methodcaller('__contains__',1),[o]))),
 'filterfalse': lambda x: len(list(itertools.filterfalse(operator.attrgetter('flag'),[mod.sub]))),
 'sort key ag': lambda x: (lambda l: (l.sort(key=operator.attrgetter('lr')), l[0] is mod))([mod,mod.sub]),
 'heapq': lambda x: heapq.nsmallest(1,[mod,mod.sub],key=operator.attrgetter('lr'))[0] is mod,
 'bisect': lambda x: bisect.bisect([1,2,3],2,key=lambda v: v*mod.lr),
 'bisect ag': lambda x: bisect.bisect([mod.sub],2,key=operator.attrgetter('lr')),
 'defaultdict': lambda x: collections.defaultdict(functools.partial(getattr,mod,'lr'))['a']*x,
 'super': lambda x: K.__dict__['m'](o,x),
 'get': lambda x: K.m.__get__(o)(x),
 '__getattribute__': lambda x: object.__getattribute__(o,'m')(x),
 'type getattr': lambda x: type.__getattribute__(K,'k')*x,
 'mod getattr': lambda x: types.ModuleType.__getattribute__(mod,'lr')*x,
 'mod getattribute': lambda x: mod.__getattribute__('lr')*x,
 'hasattr': lambda x: hasattr(mod,'extra'),
 'inspect': lambda x: inspect.getattr_static(mod,'lr')*x,
 'static class': lambda x: inspect.getattr_static(K,'k')*x,
 'copy': lambda x: copy.copy(mod.sub).lr*x,
 'deepcopy': lambda x: copy.deepcopy(mod.sub).lr*x,
 'iter sentinel': lambda x: list(iter(functools.partial(getattr,mod,'lr'),mod.lr)),
 'repr ns': lambda x: repr(mod.sub),
 'itemgetter slice': lambda x: operator.itemgetter(slice(0,1))(mod.l)[0]*x,
 'itemgetter nested': lambda x: operator.itemgetter('a')(mod.__dict__['d'])*x,
 'chain': lambda x: list(itertools.chain.from_iterable(map(operator.attrgetter('l'),[mod])))[0]*x,
 'os.fspath': lambda x: float(os.fspath(o))*x,
 'issubclass': lambda x: issubclass(Impl,AnABC),
 'issubclass tuple': lambda x: issubclass(Impl,(int,AnABC)),
 'isinstance': lambda x: isinstance(Impl(),AnABC),
 'map issub': lambda x: list(map(issubclass,[Impl],[AnABC])),
 'map isinst': lambda x: list(map(isinstance,[Impl()],[AnABC])),
 'partial isinst': lambda x: functools.partial(isinstance,Impl())(AnABC),
 'issubclass meta': lambda x: issubclass(int,Meta),
 'subclasscheck': lambda x: AnABC.__subclasscheck__(Impl),
 'instancecheck': lambda x: AnABC.__instancecheck__(impl),
 'isinstance union': lambda x: isinstance(impl,int|AnABC),
 'issubclass union': lambda x: issubclass(Impl,int|AnABC),
 'match': lambda x: mat(impl),
 'mro': lambda x: AnABC in type(impl).__mro__,
}  # fmt: skip


def told(deco: Any, case: Any) -> list[str]:
    """What calls return or raise between the changes."""
    reset()
    function = deco(lambda x: (x + 1, case(x)))
    found = []
    for step in (lambda: None, *CHANGES):
        step()
        try:
            found.append(str(function(X)))
        except Exception as error:
            found.append(repr(error))
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_native_code_reads_is_seen(name: str) -> None:
    assert told(weft.jit, CASES[name]) == told(lambda function: function, CASES[name])
