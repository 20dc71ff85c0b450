"""Docstrings of families: what all members say is written once, and each says what is its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import cleandoc
from typing import Any, ClassVar, Final, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: the compiler takes the indentation out of docstrings from this version on
_DEDENTED: Final = sys.version_info >= (3, 13)
#: the example of a family, without its indentation
_bare: Final = cache(cleandoc)
_SECTIONS: Final = ("Args:", "Returns:", "Raises:", "Example:")


def sections(doc: str) -> tuple[list[str], dict[str, str]]:
    """The paragraphs of a docstring before its sections, and the sections by their heads."""
    found: dict[str, str] = {}
    text = []
    for part in doc.rstrip().split("\n\n"):
        head = part.lstrip().partition("\n")[0]
        if head in _SECTIONS:
            found[head] = part
        elif found:  # an example may hold empty lines
            found[next(reversed(found))] += "\n\n" + part
        else:
            text.append(part)
    return text, found


def meanings(section: str) -> dict[str, str]:
    """The lines of each parameter in a section of parameters."""
    found: dict[str, str] = {}
    name, depth = "", -1
    for line in section.split("\n")[1:]:
        bare = line.lstrip()
        depth = len(line) - len(bare) if depth < 0 else depth
        if len(line) - len(bare) > depth:
            found[name] += "\n" + line
        elif bare:
            name = bare.partition(":")[0]
            found[name] = line
    return found


def completed(doc: str, names: Iterable[str], known: Mapping[str, str], others: Mapping[str, str], indent: str) -> str:
    """A docstring with what it does not say.

    Args:
        doc: what it says.
        names: the parameters, in order.
        known: lines that describe parameters; those of the docstring go before them.
        others: sections that it has if it does not say other ones, by their heads.
        indent: of the sections.

    Returns:
        The docstring.
    """
    text, found = sections(doc)
    own = meanings(found.get("Args:", ""))
    lines = [own.get(name) or known[name] for name in dict.fromkeys((*names, *own)) if name in own or name in known]
    found = {**others, **found}
    if lines:
        found["Args:"] = "\n".join([f"{indent}Args:", *lines])
    return "\n\n".join([*text, *[found[head] for head in _SECTIONS if found.get(head)]]) + "\n" + indent


def indent_of(levels: int) -> str:
    """How far the sections of a docstring are indented that stands so many levels deep."""
    return "" if _DEDENTED else "    " * levels


def _indent_in(function: Callable[..., Any]) -> str:
    """How far the docstring of a function or method is indented."""
    return indent_of(len([part for part in function.__qualname__.split(".") if part != "<locals>"]))


def described(*, returns: str = "", raises: str = "", **known: str) -> Callable[[_Function], _Function]:
    """Describe what the functions of a family share.

    Args:
        returns: what they return.
        raises: what they raise, a line for each.
        known: what their parameters are, by name.

    Returns:
        A decorator: it completes the docstring of a function with what that does not say.

    Example:
        >>> @described(x="a number.")
        ... def half(x):
        ...     '''Half of a number.'''
        ...     return x / 2
        >>> print(half.__doc__.rstrip())
        Half of a number.
        <BLANKLINE>
            Args:
                x: a number.
    """

    def decorate(function: _Function) -> _Function:
        code = function.__code__
        indent = _indent_in(function)
        deeper = f"\n{indent}    "
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        names = code.co_varnames[:count]
        if code.co_flags & 4:  # any number of arguments stands before those by name only
            first, at = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
            names = (*names[:first], names[at], *names[first:at], *names[at + 1 :])
        function.__doc__ = completed(
            function.__doc__ or "",
            names,
            {name: f"{deeper[1:]}{name}: {text}" for name, text in known.items()},
            {
                "Returns:": f"{indent}Returns:{deeper}{returns}" if returns else "",
                "Raises:": indent + "Raises:" + "".join(deeper + line for line in raises.splitlines())
                if raises
                else "",
            },
            indent,
        )
        return function

    return decorate


def shows(example: str, printed: str) -> Callable[[_Function], _Function]:
    """Give a function its example: ``@shows("half(3.0)", "1.5")``.

    Args:
        example: what the example prints, as an expression.
        printed: what that is.

    Returns:
        A decorator: it adds the example to the docstring of a function.

    Example:
        >>> @shows("half(3.0)", "1.5")
        ... def half(x):
        ...     '''Half of a number.'''
        ...     return x / 2
        >>> half.__doc__.split()
        ['Half', 'of', 'a', 'number.', 'Example:', '>>>', 'print(half(3.0))', '1.5']
    """

    def decorate(function: _Function) -> _Function:
        indent = _indent_in(function)
        lines = ["Example:", f"    >>> print({example})", *[f"    {line}" for line in printed.split("\n")], ""]
        function.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n" + "\n".join([indent + line for line in lines])
        return function

    return decorate


def told(function: Any, name: str, doc: str) -> Any:
    """Name a function that another one made, and give it a docstring.

    Args:
        function: the function, which is changed.
        name: its name.
        doc: the docstring, without the indentation that it has in a function.

    Returns:
        The same function.

    Example:
        >>> told(lambda x: x / 2, "half", "Half of a number.").__name__
        'half'
    """
    function.__name__ = function.__qualname__ = name
    indent = indent_of(1)
    first, *others = doc.strip().split("\n")
    function.__doc__ = "\n".join([first, *[indent + line if line else line for line in others]])
    return function


class Described:
    """Base of a family: ``class MaxPool1d(_MaxPool, rank=1)`` says what is a member's own.

    Such a keyword gives the attribute of that name, perhaps behind an underscore. Parameters of the constructor that a
    docstring does not describe are described as in the nearest base that does, and so is what it raises; classes of
    programs keep their docstrings. Where a base gives the example of the family (`_example`), members say what stands
    in its gaps: ``class Tanh(_Activation, shows=("", "0.0", "0."))``.
    """

    _meanings: ClassVar[dict[str, str]] = {}
    _raises: ClassVar[str] = ""
    #: the example of the family, in the form of `str.format`: ``{name}`` is that of the member, ``{}`` what it shows
    _example: ClassVar[str] = ""
    _shows: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in [*kwargs]:
            for attribute in (name, f"_{name}"):
                if hasattr(cls, attribute):
                    setattr(cls, attribute, kwargs.pop(name))
                    break
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("weft.") and cls.__dict__.get("__doc__"):
            _describe(cls)


def _describe(cls: Any) -> None:
    """Complete the docstring of a member of a family."""
    found = sections(cls.__doc__)[1]
    cls._meanings = {**cls._meanings, **meanings(found.get("Args:", ""))}
    cls._raises = found.get("Raises:", cls._raises)
    if not cls.__name__.startswith("_"):
        code = cls.__init__.__code__
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        indent = indent_of(1)
        others = {"Raises:": cls._raises}
        if cls._shows:
            lines = _bare(cls._example).format(*cls._shows, name=cls.__name__).split("\n")
            others["Example:"] = "\n".join([f"{indent}Example:", *[f"{indent}    {line}" for line in lines]])
        cls.__doc__ = completed(cls.__doc__, names, cls._meanings, others, indent)
