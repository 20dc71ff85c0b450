"""Several callbacks as one, and the facts of a run as they see them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from weft.train.callback import Callback

__all__ = ["CallbackManager", "RunFacts"]


class RunFacts(dict[str, Any]):
    """The facts of a run: a dictionary whose items are attributes.

    Example:
        >>> facts = RunFacts(epoch_num=2)
        >>> facts.cur_epoch_num = 1
        >>> facts.epoch_num, facts["cur_epoch_num"]
        (2, 1)
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class CallbackManager(Callback):
    """Callbacks that are called one after the other.

    Args:
        callbacks: a Callback, a list of them, or None.

    Raises:
        TypeError: one is no Callback.

    Example:
        >>> class Hello(Callback):
        ...     def on_train_begin(self, run_context):
        ...         print("hello")
        >>> with CallbackManager([Hello(), Hello()]) as callbacks:
        ...     callbacks.on_train_begin(None)
        hello
        hello
    """

    def __init__(self, callbacks: Any) -> None:
        if isinstance(callbacks, (list, tuple)):
            if not all(isinstance(callback, Callback) for callback in callbacks):
                raise TypeError(
                    "When the 'callbacks' is a list, the elements in 'callbacks' must be Callback functions."
                )
            self._callbacks = list(callbacks)
        elif callbacks is None or isinstance(callbacks, Callback):
            self._callbacks = [] if callbacks is None else [callbacks]
        else:
            raise TypeError("The 'callbacks' is not a Callback or a list of Callback.")
        self._entered = ExitStack()

    def __enter__(self) -> CallbackManager:
        with ExitStack() as entered:
            self._callbacks = [entered.enter_context(callback) for callback in self._callbacks]
            self._entered = entered.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.__exit__(*error)


def _moment(name: str) -> Any:
    def call(self: CallbackManager, run_context: Any) -> None:
        for callback in self._callbacks:
            getattr(callback, name)(run_context)

    call.__name__ = name
    call.__qualname__ = f"CallbackManager.{name}"
    call.__doc__ = f"`{name}` of each of the callbacks."
    return call


for _name in list(vars(Callback)):
    if not _name.startswith("_"):
        setattr(CallbackManager, _name, _moment(_name))
