"""`mindspore.log`: messages through the standard `logging` module, under the logger ``weft``.

The environment variable ``GLOG_v`` sets the level: 0 debug, 1 info, 2 warning (default), 3 error, 4 critical.
"""

from __future__ import annotations

import logging
import os
from typing import Any, Final

from weft.core.transparency import transparent

__all__ = ["critical", "debug", "error", "get_level", "get_log_config", "get_logger", "info", "set_level", "warning"]

_ON_SCREEN: Final = "GLOG_logtostderr"
_LEVELS: Final = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
_logger = logging.getLogger("weft")


def _initial_level() -> int:
    text = os.environ.get("GLOG_v", "2")  # noqa: SIM112  the name is MindSpore's
    return _LEVELS[int(text)] if text in ("0", "1", "2", "3", "4") else logging.WARNING


_logger.setLevel(_initial_level())


@transparent
def debug(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level DEBUG."""
    _logger.debug(msg, *args, stacklevel=2, **kwargs)


@transparent
def info(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level INFO."""
    _logger.info(msg, *args, stacklevel=2, **kwargs)


@transparent
def warning(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level WARNING."""
    _logger.warning(msg, *args, stacklevel=2, **kwargs)


@transparent
def error(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level ERROR."""
    _logger.error(msg, *args, stacklevel=2, **kwargs)


@transparent
def critical(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level CRITICAL."""
    _logger.critical(msg, *args, stacklevel=2, **kwargs)


def get_logger() -> logging.Logger:
    """The logger to which the functions of this module write.

    Example:
        >>> get_logger().name
        'weft'
    """
    return _logger


def get_level() -> str:
    """The level as a digit: ``"0"`` debug to ``"4"`` critical.

    Example:
        >>> get_level()
        '2'
    """
    return str(_LEVELS.index(_logger.level))


def get_log_config() -> dict[str, str]:
    """The settings of the logger, as MindSpore names them.

    Example:
        >>> get_log_config()["GLOG_v"] == get_level()
        True
    """
    names = ("GLOG_log_dir", "logger_maxBytes", "logger_backupCount", "GLOG_stderrthreshold")
    found = {"GLOG_v": get_level(), _ON_SCREEN: os.environ.get(_ON_SCREEN, "1")}
    return {**found, **{name: os.environ[name] for name in names if name in os.environ}}


def set_level(level: int) -> None:
    """Set the level: 0 debug, 1 info, 2 warning, 3 error, 4 critical.

    Raises:
        ValueError: the level is none of these.
    """
    if level not in range(len(_LEVELS)):
        raise ValueError(f"the log level must be 0 (debug) to 4 (critical), not {level!r}")
    _logger.setLevel(_LEVELS[level])
