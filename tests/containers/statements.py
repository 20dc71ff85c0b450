"""Programs about attributes, NumPy, results and the operators on tuples, lists, dictionaries and scalars.

Each is lines that bind `r`; `k` is a value that changes from call to call, also where `W`, an object of the program's
module, gets it before the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.containers.operands import TENSORS
from tests.containers.running import program
from tests.gate.matrix import turn
from tests.gate.operands import Operand
from tests.gate.programs import Program

#: classes whose instances the programs have, and the global object `W`
_CLASSES: Final = """
class Plain:
    kind = "plain"
    shared = []

class Props:
    def __init__(self):
        self._k = 1
        self.log = []
    @property
    def k(self):
        self.log.append("get")
        return self._k
    @k.setter
    def k(self, value):
        self.log.append("set")
        self._k = value
    @k.deleter
    def k(self):
        self.log.append("del")
        del self._k
    @property
    def broken(self):
        raise AttributeError("inside")
    @functools.cached_property
    def cached(self):
        self.log.append("computed")
        return [self._k]

class Dynamic:
    def __init__(self):
        self.seen = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.seen.append(name)
        return name, self.seen

class Writing:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, [value])
    def __delattr__(self, name):
        object.__setattr__(self, name, "deleted")

class Reading:
    k = 1
    def __getattribute__(self, name):
        if name == "k":
            return "read", object.__getattribute__(self, name)
        return object.__getattribute__(self, name)

class Field:
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, obj, owner=None):
        return self if obj is None else obj.__dict__.get(self.name, owner.__name__)
    def __set__(self, obj, value):
        obj.__dict__[self.name] = value
    def __delete__(self, obj):
        obj.__dict__.pop(self.name, None)

class NonData:
    def __get__(self, obj, owner=None):
        return "class" if obj is None else ("instance", obj.__dict__.get("other"))

class Described:
    k = Field()
    j = NonData()

class Base:
    k = 0
    def who(self):
        return "base", self.k
    @classmethod
    def make(cls, *args):
        return cls, args
    @staticmethod
    def plain(a):
        return [a]

class Derived(Base):
    def who(self):
        return "derived", super().who()

class Meta(type):
    level = 1
    @property
    def doubled(cls):
        return cls.level * 2

class WithMeta(metaclass=Meta):
    pass

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([1.0, 2.0]), name="weight")
        self.scale = 2
        self.items = []
    def construct(self, x):
        return x.sum() * self.weight * self.scale

def function(a=1):
    return a

module = types.ModuleType("module")
module.k = 1
CONFIG = {"k": 1, "nested": {"k": [1, 2]}}
"""

#: programs about attributes, with what stands in W
ATTRIBUTES: Final[dict[str, tuple[str, ...]]] = {
    "Plain()": (
        "W.a = y\nr = W.a is y, W.a",
        "W.a = k\nW.b = [W.a, y]\nr = vars(W)",
        "r = W.k, y * (W.k or 0)",
        "W.k = W.k, k\nr = W.k",
        "W.k += 1\nr = W.k, y * W.k",
        "del W.k\nr = hasattr(W, 'k'), getattr(W, 'k', y) is y",
        "del W.nothing",
        "r = W.nothing",
        "try:\n    r = W.nothing\nexcept AttributeError as error:\n    r = str(error), error.name, error.obj is W",
        "r = W.kind, Plain.kind, type(W).kind",
        "W.kind = y\nr = W.kind is y, Plain.kind\ndel W.kind\nr = r, W.kind",
        "W.shared.append(k)\nr = list(Plain.shared), W.shared is Plain.shared\nPlain.shared.clear()",
        "Plain.extra = y\nr = W.extra is y, Plain().extra is y\ndel Plain.extra\nr = r, hasattr(W, 'extra')",
        "setattr(W, 'k', y)\nr = getattr(W, 'k') is y",
        "setattr(W, 'n' + str(x.shape[0]), y)\nr = sorted(vars(W))",
        "r = [getattr(W, name, None) for name in ('k', 'kind', 'nothing')]",
        "r = hasattr(W, 'k'), hasattr(W, 'nothing'), hasattr(Plain, 'kind'), hasattr(x, 'k')",
        "vars(W)['k'] = y\nr = W.k is y",
        "W.__dict__.update(a=y, k=k)\nr = W.a is y, W.k",
        "W.__dict__ = {'k': y}\nr = W.k is y, vars(W)",
        "r = sorted(vars(W)), 'k' in dir(W), 'kind' in dir(W)",
        "r = W.__dict__ is vars(W), W.__class__ is Plain, type(W) is Plain",
        "W.self = W\nr = W.self.self is W\ndel W.self",
        "W.a, W.b = y, x\nW.a, W.b = W.b, W.a\nr = W.a is x, W.b is y",
        "W.f = lambda a: [a, k]\nr = W.f(y)\ndel W.f",
        "W.k = [k]\nW.k[0] = y\nr = W.k",
        "for W.i in range(3):\n    pass\nr = W.i",
        "with manager(y) as W.a:\n    pass\nr = W.a is y",
        "a = Plain()\na.k = W\na.k.k = y\nr = W.k is y, a.k is W",
        "a = copy.copy(W)\na.k = y\nr = W.k, a.k is y",
        "a = copy.deepcopy(W)\nr = a.k == W.k, a is W",
        "if x[0] > 1:\n    W.a = y\nelse:\n    W.a = x\nr = W.a",
        "if x[0] > 1:\n    W.k = 7\nr = W.k",
        "n = 0\nW.k = 0\nwhile x[0] > n:\n    n += 1\n    W.k += 2\nr = W.k",
        "W.t = x\nfor i in range(3):\n    W.t = W.t + i\nr = W.t",
        "W.__class__ = Base\nr = W.who()\nW.__class__ = Plain",
        "r = isinstance(W, Plain), isinstance(W, (int, Plain)), issubclass(type(W), object)",
        "def inner(o):\n    o.a = y\n    return o\nr = inner(W) is W, W.a is y",
        "r = operator.attrgetter('k', 'kind')(W), operator.attrgetter('k.__class__')(W)",
        "W.a = Tensor([1.0])\nW.a[0] = 5.0\nr = W.a",
        "object.__setattr__(W, 'k', y)\nr = object.__getattribute__(W, 'k') is y",
        "object.__delattr__(W, 'k')\nr = vars(W)",
        "r = W == W, W == Plain(), W != 1, W is not None, W in [W]",
        "match W:\n    case Plain(k=1):\n        r = 'one'\n    case Plain(k=None):\n        r = 'none'\n    case Plain(k=a):\n        r = a",
        "W.k = y\nr = f'{W.k}', y.shape",
        "r = W.k is k, W.k == k",
    ),
    "Props()": (
        "r = W.k, list(W.log)\nW.log.clear()",
        "W.k = y\nr = W.k is y, W._k is y\nW.log.clear()",
        "W.k += 1\nr = W._k, list(W.log)\nW.log.clear()",
        "W._k = k\nr = W.k\nW.log.clear()",
        "W._k = 1\ndel W.k\nr = hasattr(W, 'k'), hasattr(W, '_k')\nW.log.clear()",
        "r = hasattr(W, 'broken'), getattr(W, 'broken', y) is y",
        "r = W.broken",
        "r = W.cached is W.cached, W.cached\nW.log.clear()",
        "a = Props()\na._k = y\nr = a.cached[0] is y, a.log",
        "r = type(W).k, isinstance(Props.__dict__['k'], property)",
        "setattr(W, 'k', k)\nr = getattr(W, 'k'), vars(W)\nW.log.clear()",
        "r = Props.k.fget(W), Props.k.__get__(W, Props)\nW.log.clear()",
    ),
    "Dynamic()": (
        "r = W.anything[0], list(W.seen)\nW.seen.clear()",
        "r = W.seen is W.abc[1]\nW.seen.clear()",
        "r = getattr(W, 'a' * x.shape[0])[0], hasattr(W, 'b')\nW.seen.clear()",
        "r = hasattr(W, '__len__'), getattr(W, '__thing__', y) is y\nW.seen.clear()",
        "W.own = y\nr = W.own is y, W.seen",
        "W.k = k\nr = W.k, W.seen",
    ),
    "Writing()": (
        "W.a = y\nr = W.a[0] is y",
        "W.a = k\ndel W.a\nr = W.a",
        "setattr(W, 'b', y)\nr = vars(W)",
        "object.__setattr__(W, 'c', y)\nr = W.c is y",
        "W.a = 1\nW.a += [k]\nr = W.a",
    ),
    "Reading()": ("r = W.k", "W.k = y\nr = W.k[1] is y", "r = getattr(W, 'k'), vars(W), Reading.k"),
    "Described()": (
        "r = W.j, Described.j",
        "W.k = y\nr = W.k is y, vars(W)",
        "W.k = k\nr = W.k, W._k",
        "W.other = y\nr = W.j[1] is y",
        "W.j = y\nr = W.j is y",
        "W.k = k\ndel W.k\nr = W.k",
        "r = Described.k is Described.__dict__['k'], Described.k.name",
        "vars(W)['k'] = y\nr = W.k",
    ),
    "Derived()": (
        "r = W.who()",
        "W.k = y\nr = W.who()[1][1] is y",
        "Base.k = y\nr = W.who()\nBase.k = 0",
        "r = W.make(y, k), Base.make(k)",
        "r = W.plain(y)[0] is y, Derived.plain(k)",
        "r = Base.who(W), super(Derived, W).who()",
        "a = W.who\nW.k = 5\nr = a(), a.__self__ is W, a.__func__ is Derived.who",
        "W.who = lambda: y\nr = W.who() is y\ndel W.who\nr = r, W.who()",
        "r = [c.__name__ for c in type(W).__mro__], Derived.__bases__[0] is Base",
        "class Local(Derived):\n    def who(self):\n        return 'local', y, super().who()\nr = Local().who()",
        "r = type('T', (Derived,), {'k': y})().who()",
        "Derived.new = lambda self, a: [self.k, a]\nr = W.new(y)\ndel Derived.new",
    ),
    "WithMeta": (
        "r = W.level, W.doubled, hasattr(W(), 'level')",
        "W.k = y\nr = W.k is y, W().k is y\ndel W.k",
        "r = type(W) is Meta, isinstance(W, type)",
        "Meta.level = 3\nr = W.doubled\nMeta.level = 1",
    ),
    "Slots(1, 2, 3)": (
        "W.a = y\nr = W.a is y",
        "del W.a\nr = hasattr(W, 'a')\nW.a = k",
        "W.nothing = 1",
        "r = vars(W)",
        "r = W.b, getattr(W, 'zz', y) is y",
        "del W.b\nr = W.b",
        "W.c = [W.c, k]\nr = W.c\nW.c = 3",
        "r = Slots.__slots__, Slots.a.__get__(W), Slots.a",
        "Slots.a.__set__(W, y)\nr = W.a is y",
    ),
    "Net()": (
        "r = W(x), W.scale",
        "W.scale = k\nr = W(x) if k else W.scale",
        "W.scale = x.sum()\nr = W(x), W.scale",
        "W.items.append(y)\nr = W.items[-1] is y, len(W.items)\nW.items.clear()",
        "W.items = [k, y]\nr = W.items",
        "W.weight.set_data(Tensor([3.0, 1.0]))\nr = W.weight, W(x)",
        "W.weight = Parameter(Tensor([3.0, 1.0]), name='other')\nr = W.weight.name, W(x)",
        "W.state = y\nr = W.state is y",
        "r = [p.name for p in W.trainable_params()], W.training",
        "W.set_train()\nr = W.training\nW.set_train(False)\nr = r, W.training",
        "r = hasattr(W, 'weight'), hasattr(W, 'nothing'), getattr(W, 'nothing', y) is y",
        "r = W.nothing",
        "del W.items\nr = hasattr(W, 'items')\nW.items = []",
        "W.weight.requires_grad = False\nr = len(W.trainable_params())\nW.weight.requires_grad = True",
        "W.sub = nn.ReLU()\nr = W.sub(y), [n for n, _ in W.cells_and_names()]\ndel W.sub",
    ),
    "function": (
        "W.k = y\nr = W.k is y, vars(W)",
        "W.k = k\nr = W.k, W()",
        "W.__defaults__ = (k,)\nr = W()\nW.__defaults__ = (1,)",
        "r = W.__name__, W.__defaults__, W.__module__ == __name__",
        "r = hasattr(W, 'nothing'), getattr(W, 'nothing', y) is y",
        "W.calls = getattr(W, 'calls', 0) + 1\nr = W.calls",
    ),
    "module": (
        "W.k = y\nr = W.k is y, module.k is y",
        "W.k = k\nr = W.k, 'k' in vars(W)",
        "r = W.nothing",
        "W.extra = [k]\nr = module.extra\ndel W.extra\nr = r, hasattr(module, 'extra')",
        "r = W.__name__, type(W) is types.ModuleType",
        "setattr(W, 'f', lambda a: [a, k])\nr = W.f(y)\ndel W.f",
    ),
    "CONFIG": (
        "r = W['k'], W['nested']['k'][0]",
        "W['k'] = y\nr = CONFIG['k'] is y",
        "W['nested']['k'].append(k)\nr = CONFIG['nested']['k'][-1]\nW['nested']['k'].pop()",
        "r = W is CONFIG, W['nested'] is CONFIG['nested'], W.get('zz', y) is y",
        "global CONFIG\nCONFIG = {**CONFIG, 'k': y}\nr = CONFIG is W, CONFIG['k'] is y\nCONFIG = W",
        "W['k'] = k\nr = [a for a in W], list(W.items())[0]",
    ),
}  # fmt: skip

#: programs on arrays and numbers of NumPy, and on SciPy
ARRAYS: Final = (
    "r = np.zeros(x.shape), np.ones((2, x.shape[0])), np.arange(x.shape[0])",
    "r = np.array([k or 0, x.shape[0]], np.float32) + 1",
    "r = Tensor(np.array([1.0, k or 0], np.float32)) * 2",
    "a = np.arange(4)\na[1] = 7\na[2:] += 1\nr = a, a.sum()",
    "a = np.zeros((2, 2))\na[0, 1] = x.shape[0]\na[:, 0] = [1, 2]\nr = a",
    "a = np.arange(6).reshape(2, 3)\nr = a[1], a[:, ::-1], a[[0, 1], [2, 0]], a[a > 2], a[..., None].shape",
    "a = np.arange(4.0)\na[[0, 2]] = k or 0\na[a > 2] = -1\nr = a",
    "a = np.arange(4)\nb = a[1:]\nb[0] = 9\nr = a, b.base is a, np.shares_memory(a, b)",
    "a = np.arange(4)\nb = a\nb += 1\nr = a, b is a",
    "a = np.float32(2)\nr = y * a, a * y, a + 1, type(a + 1)",
    "a = np.int64(x.shape[0])\nr = y[: a - 1], a == x.shape[0], type(a * 2)",
    "r = np.asarray([1, 2]) @ np.asarray([3, 4]), np.dot([1, 2], [x.shape[0], 1])",
    "r = y.asnumpy(), y.asnumpy().sum() * 2",
    "a = y.asnumpy()\nr = Tensor(a) + 1, a.shape, a.dtype",
    "r = np.sum(x.asnumpy()), np.argmax(y.asnumpy()), np.mean(y.asnumpy())",
    "r = np.add(y.asnumpy(), 1), np.where(y.asnumpy() > 2, 1, 0)",
    "r = x + np.ones(x.shape, np.float32), np.ones(x.shape, np.float32) + x",
    "r = x * np.float64(1.5), x * np.int8(2), np.float32(2) ** x",
    "a = {'k': np.arange(3)}\na['k'][0] = 5\nr = a, a['k'] is a['k']",
    "a = [np.zeros(2), np.ones(2)]\nr = np.stack(a), np.concatenate(a), a[0] is a[0]",
    "W.k = np.arange(3)\nW.k[1] = 8\nr = W.k",
    "r = np.array([[1, 2], [3, 4]]).T, np.eye(2), np.linspace(0, 1, x.shape[0])",
    "r = np.isnan(np.float32(k or 0)), np.isscalar(k), np.ndim([[1]])",
    "a = np.array([3, 1, 2])\na.sort()\nr = a, np.sort([2, x.shape[0], 1]), np.argsort([3, 1, 2])",
    "r = np.unique([1, 1, x.shape[0]]), np.cumsum([1, 2, 3]), np.prod(x.shape)",
    "r = bool(np.all(np.array([1, 1]) == [1, k or 1])), np.array_equal([1], [k])",
    "for a in np.arange(3):\n    y = y + a\nr = y",
    "a, b = np.array([1.0, 2.0])\nr = y * a + b, type(a)",
    "a = np.array([1, 2, 3])\nr = list(a), a.tolist(), [*map(int, a)], len(a), 2 in a",
    "a = np.array([1, 2])\nif a.any():\n    r = a.max(), a.argmin()",
    "a = np.array([1, 2])\nr = bool(a)",
    "a = np.zeros(2)\na[5] = 1",
    "a = np.zeros(2)\na[0] = 'text'",
    "r = np.array([1, 2]) + np.array([1, 2, 3])",
    "a = np.array([None, 'a', k], dtype=object)\nr = a[2] is k, a.tolist()",
    "a = np.zeros(2, dtype=[('p', np.int32), ('q', np.float32)])\na['p'] = 3\nr = a['p'], a[0]['q']",
    "r = np.dtype('float32'), np.float32(1).dtype, np.arange(3).astype('float64').dtype",
    "a = np.arange(3)\na.flags.writeable = False\ntry:\n    a[0] = 1\nexcept ValueError as error:\n    r = str(error)",
    "a = np.arange(3)\nb = a.copy()\nb[0] = 9\nr = a, b, a is b, np.may_share_memory(a, b)",
    "a = memoryview(np.arange(3))\nr = a[1], a.shape",
    "r = np.random.default_rng(3).integers(0, 9, 3), np.random.RandomState(1).rand(2)",
    "a = np.broadcast_to(np.arange(2), (2, 2))\nr = a, np.tile([1, 2], 2), np.repeat([1], x.shape[0])",
    "r = f'{np.float32(1.5)} {np.arange(2)}', repr(np.int64(3)), str(np.bool_(True))",
    "r = np.float32(1.5).item(), np.int64(3).__index__(), [1, 2, 3][np.int64(1)], range(np.int64(2))",
    "r = {np.int64(1): 'a'}[1], hash(np.int64(3)) == 3, np.float64(1.5) == 1.5, np.bool_(True) is True",
    "r = scipy.special.expit(np.array([0.0, 1.0])), scipy.special.gamma(x.shape[0])",
    "r = scipy.special.comb(4, 2), scipy.special.erf(0.0), scipy.special.logsumexp([0.0, 0.0])",
    "r = scipy.stats.norm.cdf(0.0), scipy.stats.rankdata([3, 1, x.shape[0]])",
    "r = Tensor(scipy.special.expit(y.asnumpy() * 0)) + x",
)  # fmt: skip

#: programs that are about what comes back
RESULTS: Final = (
    "r = [y, y, x], (x, x)",
    "a = [y]\nr = a, a, [a]",
    "a = {}\na['self'] = a\nr = a['self']['self'] is a",
    "a = []\na.append(a)\nr = a",
    "r = {'a': y, 'b': {'c': [x, {'d': y}]}}",
    "r = {y.shape: y, None: None, (1, x.shape[0]): [y]}",
    "r = x, x is x, [x][0] is x, y is y",
    "r = None, [None], {'k': None}, (None,) * 2",
    "r = (), [], {}, set(), frozenset(), '', b''",
    "r = ((), ((),), ([],))",
    "r = Triple(y, [x], None), Record(y), Fixed(x, y), Slots(y), Box(x)",
    "a = Record(y)\nr = a, [a], {'a': a}",
    "r = collections.OrderedDict(b=y, a=x), collections.defaultdict(list, k=[y]), collections.deque([x, y], 2)",
    "r = collections.defaultdict(lambda: y)['new'] is y",
    "a = collections.defaultdict(list)\na['p'].append(y)\na['q']\nr = a",
    "r = Bag([y]), Table(a=y), Counted([x])",
    "r = (a for a in [y, x])",
    "r = iter([y, x]), map(lambda a: a * 2, [y]), zip([y], [x]), enumerate([x]), reversed([x, y])",
    "r = lambda: y\nr = r() is y",
    "def r(a=y):\n    return a\nr = r() is y",
    "r = functools.partial(pair, y)\nr = r(x)",
    "r = x.shape, x.dtype, x.shape[0], len(x), x.ndim, x.size",
    "r = int(x[0]), float(x[1]), bool(x[0] > 1), x[0].item(), x.tolist()",
    "r = [int(x[0])] * 2, {'n': x[0].item()}, (float(x[0]), None)",
    "r = {int(x[0]): y}",
    "r = {k: y}, {(k, 1): [k]}",
    "r = [a for a in x], [*x], list(x), tuple(x)",
    "r = range(x.shape[0]), slice(x.shape[0]), range(int(x[0]))",
    "r = y.sum, len, Tensor, Record, np\nr = [callable(a) for a in r]",
    "r = (y > 2, x == y, x is y, not x.shape)",
    "r = [[y] * 2] * 2\nr[0][0] = x\nr = r, r[0] is r[1]",
    "a, *b = [y, x, k]\nr = b, a",
    "r = [y, [x, [k, [None]]]]\nr[1][1][1].append(y)\nr = r",
    "r = k, [k], {'k': k}, k is k",
    "r = ValueError(y, k), KeyError(k)",
    "r = types.SimpleNamespace(y=y, k=[k]), types.MappingProxyType({'a': y})",
    "r = y if k else None",
    "r = (x, [1]) if x[0] > 1 else (y, [2])",
    "r = {'a': x} if x[0] > 1 else {'a': y}",
    "r = [y]\nif x[0] > 1:\n    r.append(x)\nr = len(r), r",
    "r = []\nfor i in range(x.shape[0]):\n    r.append(x[i] * i)\nr = r",
    "r = {}\nfor i in range(x.shape[0]):\n    r[i] = {'v': y[i]}\nr = r",
    "y[0] = 5.0\nr = y, [y]",
    "a = x\na = a + 1\nr = a, x, a is x",
    "global W\nW = [y, k]\nr = W, W is W",
    "return k",
    "return x",
    "return [x, x]",
    "return None",
    "return",
)  # fmt: skip

#: what is done to an array that the call made, on one side of a branch or in a loop on a tensor
WRITES: Final = (
    "a.fill(7)", "a.sort()", "a.put([0], 5)", "a.partition(1)", "a.resize(4, refcheck=False)", "a.byteswap(True)",
    "a.setflags(write=False)", "a.flags.writeable = False", "a.shape = (3, 1)", "a.dtype = np.uint64", "a.flat = 3",
    "a[0] = 5", "a[1:] += 1", "a += 1", "np.put(a, [0], 9)", "np.copyto(a, 9)", "np.add(a, 1, out=a)", "np.add.at(a, [0], 5)",
    "np.place(a, a > 0, [9])", "a[1:].fill(3)", "b = np.zeros(2)\nb.fill(4)\na = b", "a = a + 1",
)  # fmt: skip
#: what is done, on one side, to other objects that the call made
OBJECTS: Final = (
    ("array.array('i', [1, 2])", "a.append(3)"),
    ("array.array('i', [1, 2])", "a[0] = 5"),
    ("bytearray(b'abc')", "a.extend(b'd')"),
    ("collections.defaultdict(list)", "a.default_factory = int"),
    ("collections.defaultdict(list)", "a['a'].append(y)"),
    ("collections.deque([1, 2], 2)", "a.append(y)"),
    ("collections.OrderedDict(a=1, b=2)", "a.move_to_end('a')"),
    ("[3, 1, 2]", "heapq.heapify(a)"),
    ("[3, 1, 2]", "bisect.insort(a, 2)"),
    ("Fixed(1)", "object.__setattr__(a, 'a', y)"),
    ("Fixed(1)", "a.__setstate__([y, 1, 2])"),
    ("OSError(1, 'a')", "a.errno = 7"),
    ("ValueError(1)", "a.args = (y,)"),
    ("np.arange(3).flat", "next(a)"),
    ("iter([1, 2, 3])", "next(a)"),
    ("(lambda b=1: b)", "a.__defaults__ = (5,)"),
    ("(lambda b=1: b)", "a.__code__ = (lambda b=1: b + 1).__code__"),
)
#: what is done with a defaultdict whose factory is another one in each call
FACTORIES: Final = (
    "r = repr(v), str([v])",
    "r = copy.copy(v), v.copy(), copy.deepcopy(v)",
    "r = v | {1: 2}, {3: 4} | v",
    "v |= {5: y}\nr = v",
    "r = v['new'], v",
    "r = v.__missing__('new')",
    "r = type(v)(v.default_factory, v)",
    "r = v.__reduce__()[1]",
)
_FACTORIES: Final = tuple(f"collections.defaultdict({made}, a=1)" for made in ("list", "int", "None", "lambda: 7"))

#: the operators on scalars and sequences that MindSpore names
OPERATORS: Final = (
    "r = ops.scalar_add(k or 1, x.shape[0]), ops.scalar_sub(2, int(x[0])), ops.scalar_mul(1.5, k or 1)",
    "r = ops.scalar_div(6, x.shape[0]), ops.scalar_floordiv(7, x.shape[0]), ops.scalar_mod(7, x.shape[0])",
    "r = ops.scalar_pow(x.shape[0], 2), ops.scalar_uadd(k or 0), ops.scalar_usub(x.shape[0])",
    "r = ops.scalar_eq(k, 1), ops.scalar_ne(k, 1), ops.scalar_lt(x.shape[0], 3), ops.scalar_le(int(x[0]), 1)",
    "r = ops.scalar_gt(int(x[0]), 1), ops.scalar_ge(x.shape[0], 3), ops.scalar_log(2.0)",
    "r = ops.scalar_div(1, x.shape[0] - x.shape[0])",
    "r = ops.scalar_add(y, 1), ops.scalar_mul(2, y)",
    "r = ops.scalar_cast(2.7, dtypes.int64), ops.scalar_cast(x.shape[0], dtypes.float32)",
    "r = ops.scalar_to_tensor(x.shape[0]), ops.scalar_to_tensor(1.5, dtypes.float32)",
    "r = ops.scalar_to_array(k or 0), ops.tuple_to_array((1, x.shape[0]))",
    "r = ops.scalar_add(int(x[0]), x[1].item())",
    "r = ops.bool_and(True, x.shape[0] > 2), ops.bool_or(False, k == 1), ops.bool_not(k), ops.bool_eq(True, k == 1)",
    "r = ops.make_tuple(y, k), ops.make_list(y, None), ops.make_dict(('a', 'b'), (y, k))",
    "r = ops.make_range(x.shape[0]), ops.make_slice(0, x.shape[0], 1), ops.make_range(0, 4, 2)",
    "r = ops.tuple_getitem((y, x), 1) is x, ops.list_getitem([y, x], -1) is x, ops.dict_getitem({'a': y}, 'a') is y",
    "r = ops.tuple_setitem((y, k), 0, x)",
    "a = [y, k]\nr = ops.list_setitem(a, 1, x), a",
    "a = [y]\nr = ops.list_append(a, k), a",
    "r = ops.tuple_len((y, k)), ops.list_len([y] * x.shape[0]), ops.tuple_reversed((y, k, None))",
    "r = ops.in_dict('a', {'a': y}), ops.not_in_dict(k, {'a': y})",
    "r = ops.tuple_equal((1, k), (1, 1)), ops.is_(y, y), ops.is_not(y, x), ops.isinstance_(y, Tensor)",
    "r = ops.string_eq('a', 'a' * x.shape[0]), ops.string_concat('a', str(k))",
    "r = ops.shape_mul(x.shape), ops.reduced_shape((2, x.shape[0]), (0,)), ops.typeof(y)",
    "r = ops.tuple_getitem((y,), 3)",
    "r = ops.dict_getitem({'a': y}, k)",
    "r = ops.list_setitem([y], int(x[0]) * 0, x)",
    "r = ops.partial(ops.scalar_add, 1)(k or 0)",
    "r = (1, k) + (y,), [y] + [k], (1, 2) * x.shape[0], [k] * 2",
    "r = y[:2] + (1, 2), (1, 2) + y[:2]",
    "r = y[:2] * [1, 2], [1.5, 2] * y[:2]",
    "r = y[:2] - (1, 2), (1, 2) - y[:2], y[:2] / [1, 2], [1, 2] / y[:2]",
    "r = y[:2] // (1, 2), y[:2] % [2, 3], y[:2] ** (1, 2), (2, 3) ** y[:2]",
    "r = y[:2] == (2, 4), y[:2] > [1, 1], (1, 9) < y[:2]",
    "r = (y, 1) == (y, 1), [k, None] == [1, None], (1, k) < (1, 2) if k else None",
    "r = y in [x, y], k in (1, None), 'a' in {'a': y}",
    "r = ops.stack([y, x]), ops.concat((y, x)), ops.stack([x] * x.shape[0]).shape",
    "r = ops.addn([x, y]), ops.meshgrid(x, y), ops.broadcast_to(x, (2, x.shape[0]))",
    "r = ops.unstack(ops.stack([x, y])), ops.split(y[:2], 1)",
    "r = ops.tensor_add(x, y), ops.tensor_mul(x, k or 1), ops.tensor_pow(x, 2), ops.tensor_eq(x, y)",
    "r = ops.hyper_map(ops.square, [x, y]) if hasattr(ops, 'hyper_map') else None",
)  # fmt: skip

#: `k` in each call
_K: Final = ("1", "None", "2", "1.5")


def _operand(before: str) -> Operand:
    return Operand("changing value", "int", _K, TENSORS, ("k = v",), before, "v", "value")


def _on_sides(made: str, write: str) -> Iterator[str]:
    """The write on one side of a branch, on one side of two, and in a loop."""
    write = write.replace("\n", "\n    ")
    shown = "r = a() if callable(a) else a"
    yield f"a = {made}\nif x[0] > 1:\n    {write}\n{shown}"
    yield f"a = {made}\nif x[0] > 0:\n    if x[1] > 0:\n        {write.replace(chr(10), chr(10) + '    ')}\n{shown}"
    yield f"a = {made}\nn = 0\nwhile x[0] > n:\n    n += 1\n    {write}\n{shown}"


def of_sides(share: int = 1, which: int = 0) -> Iterator[Program]:
    """Writes to objects that the call made, on sides of branches, and what a defaultdict from outside is."""
    writes = [*(("np.array([3, 1, 2])", write) for write in WRITES), *OBJECTS]
    for made, write in writes:
        for lines in _on_sides(made, write):
            if turn("share", lines) % share == which:
                yield program(_described(lines), lines, _operand(""))
    factories = Operand("factories", "dict", _FACTORIES, TENSORS)
    for lines in FACTORIES:
        if turn("share", lines) % share == which:
            yield program(_described(lines), lines, factories)


def _described(lines: str) -> str:
    return lines.replace("\n", "; ")


def of_attributes(share: int = 1, which: int = 0) -> Iterator[Program]:
    """Attributes of objects, classes, Cells, functions and modules, which also change between the calls."""
    for made, programs in ATTRIBUTES.items():
        setup = f"{_CLASSES}\nW = {made}"
        name = "CONFIG" if made == "CONFIG" else "W"
        changed = "W['k'] = value" if name == "CONFIG" else "setattr(W, 'k', value)"
        for lines in programs:
            if turn("share", made, lines) % share == which:
                # slots, properties and Cells take other names
                free = made in ("Plain()", "CONFIG", "function", "module", "Derived()", "Reading()")
                yield program(f"{made}: {_described(lines)}", lines, _operand(changed if free else "pass"), setup)


def of_statements(share: int = 1, which: int = 0) -> Iterator[Program]:
    """Arrays, results and named operators."""
    for subject, programs in (("arrays", ARRAYS), ("results", RESULTS), ("operators", OPERATORS)):
        for lines in programs:
            if turn("share", subject, lines) % share == which:
                yield program(f"{subject}: {_described(lines)}", lines, _operand(""), "W = types.SimpleNamespace(k=1)")
