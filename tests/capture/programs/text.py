"""f-strings, formatting, printing of Python values and of tensors."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


@case(X)
def f_string_of_python_values(x: Any) -> Any:
    k, name = 3, "layer"
    return x * k, f"{name}_{k:03d}: {2.5:.2f} {name!r:>10} {k=} {{}}"


@case(X)
def f_string_of_shape_and_dtype(x: Any) -> Any:
    return f"{x.shape} {x.ndim} {x.dtype}", x


@case(X)
def percent_and_format(x: Any) -> Any:
    return "%s has %d" % ("it", 3), "{} {name}".format(1, name="n"), "{0:>4}".format(2), x  # noqa: UP030, UP031, UP032


@case(X)
def string_methods(x: Any) -> Any:
    words = "a,b,c".split(",")
    return "-".join(words).upper(), "text".startswith("te"), "x" * 3, words[-1], x * len(words)


@case(X)
def prints_python_values(x: Any) -> Any:
    print("shape", x.shape, sep="=")
    print("no newline", end=";")
    for i in range(2):
        print(i)
    return x * 2


@case(X)
def prints_a_tensor(x: Any) -> Any:
    y = x * 2
    print("y is", y)
    return y


@case(X)
def prints_in_a_branch(x: Any) -> Any:
    if x.sum() > 0:
        print("positive")
    else:
        print("negative", x.sum())
    return x


@case([i64(3), i64(0)], gradients=False)
def prints_in_a_loop(n: Any) -> Any:
    i = 0
    while i < n:
        print("step", i)
        i += 1
    return i


@case(X)
def prints_f_string_with_tensor(x: Any) -> Any:
    loss = x.sum()
    print(f"loss: {loss:.3f}")
    return loss


@case(X)
def text_as_dict_key(x: Any) -> Any:
    return {f"layer{i}.weight": x * i for i in range(2)}


@case(X)
def concatenated_text(x: Any) -> Any:
    text = ""
    for i in range(3):
        text += str(i) + ","
    return text[:-1], x


@case(X)
def repr_of_python_objects(x: Any) -> Any:
    return repr([1, "a", None]), str((1, 2.0)), ascii("é"), x


@case(X)
def bytes_and_chr(x: Any) -> Any:
    return b"abc"[1], chr(97), ord("b"), bytes([1, 2]), x, bin(5), hex(255)
