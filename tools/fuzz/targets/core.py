"""Calls of the compiled module with drawn arguments: an error or an answer, never a crash.

What a function takes is read from its signature, so a new one is called without a change here. A case makes a few
calls; the objects that they return are arguments of the later ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from drawing import EXTREME, EXTREME_INTEGERS, Draw

from planewise import SLMBoostClassifier, _core

OUTCOMES = ("refused", "answered", "some of each")
MAX_BYTES = 256
USES_CORE = True
WORDS = ()
ERRORS = (TypeError, ValueError, IndexError, OverflowError, MemoryError, RuntimeError, AttributeError)
COSTLY = re.compile(r"n_threads|max_iter|most_steps|steps|rounds|n_estimators|last|draws|rows|n_classes|columns|k")
TEXTS = ("uniform", "robust", "quantile", "all", "subspace", "none", "logistic", "softmax", "squared", "poisson")
TEXTS += ("huber", "gamma", "tweedie", "absolute", "ranking", "log_loss", "x")
CLASSES = {name: each for name, each in vars(_core).items() if isinstance(each, type)}


@cache
def _callables() -> list[tuple[str, Any]]:
    """Every function, constructor, method and property that can be set, by name."""
    found = list(vars(_core).items())
    for owner, cls in CLASSES.items():
        found += [(f"{owner}.{name}", each) for name, each in vars(cls).items()]
    return sorted(
        (name, each)
        for name, each in found
        if name.endswith(".__init__")
        or (isinstance(each, property) and each.fset is not None)
        or (hasattr(each, "__nb_signature__") and not isinstance(each, type) and "__" not in name)
    )


@cache
def _forest_arrays() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    forest = SLMBoostClassifier(n_estimators=2, max_depth=2, random_state=0, n_jobs=1).fit(X, X[:, 0] > 0).forest_
    return forest.arrays() | {"n_outputs": forest.n_outputs}


def case(data: bytes) -> str:
    draw = Draw(data)
    sizes = (draw.choice((4, 1, 2, 3, 6, 9)), draw.choice((3, 1, 2, 4)))
    made: list[Any] = []
    n_refused = n_calls = 0
    for _ in range(1 + draw.below(6)):
        name, what = draw.choice(_callables())
        n_calls += 1
        try:
            made.append(_called(draw, name, what, sizes, made))
        except ERRORS:
            n_refused += 1
    return "refused" if n_refused == n_calls else "answered" if not n_refused else "some of each"


def _called(draw: Draw, name: str, what: Any, sizes: tuple[int, int], made: list[Any]) -> Any:
    owner = name.split(".")[0]
    if name.endswith(".__init__"):
        return _made(draw, owner, sizes, made, depth=0)
    if not hasattr(what, "__nb_signature__"):  # a property
        one = _made(draw, owner, sizes, made, depth=0)
        _set(draw, one, name.split(".")[1], sizes)
        return one
    types = _arguments(what)
    values = [_value(draw, kind, parameter, sizes, made, 1) for parameter, kind in types if parameter != "self"]
    if any(parameter == "self" for parameter, _ in types):
        values.insert(0, _made(draw, owner, sizes, made, depth=1))
    return what(*values)


def _arguments(what: Any) -> list[tuple[str, str]]:
    """Names and types of the arguments, from the signature that nanobind writes."""
    text = what.__nb_signature__[0][0]
    inside, found, depth, start = text[text.index("(") + 1 : text.rindex(") ->")], [], 0, 0
    for place, letter in enumerate(inside + ","):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            parameter, _, kind = inside[start:place].strip().partition(":")
            if parameter and parameter not in "/*":
                found.append((parameter.strip(), kind.strip()))
            start = place + 1
    return found


def _made(draw: Draw, owner: str, sizes: tuple[int, int], made: list[Any], depth: int) -> Any:
    """An object of a class: one of an earlier call, or a new one."""
    there = [each for each in made if isinstance(each, CLASSES[owner])]
    there += [each for pair in made if isinstance(pair, tuple) for each in pair if isinstance(each, CLASSES[owner])]
    if there and draw.below(3):
        return there[-1]
    if owner == "Forest":
        return _forest(draw)
    init = CLASSES[owner].__init__
    if not hasattr(init, "__nb_signature__"):
        raise TypeError(f"{owner} cannot be made")
    types = [pair for pair in _arguments(init) if pair[0] != "self"]
    one = CLASSES[owner](*(_value(draw, kind, parameter, sizes, made, depth + 1) for parameter, kind in types))
    if owner.endswith("Options"):
        names = [name for name in vars(CLASSES[owner]) if not name.startswith("_")]
        for _ in range(draw.below(4)):
            _set(draw, one, draw.choice(names), sizes)
    return one


def _set(draw: Draw, one: Any, name: str, sizes: tuple[int, int]) -> None:
    old = getattr(one, name)
    if isinstance(old, bool):
        setattr(one, name, bool(draw.below(2)))
    elif isinstance(old, int):
        setattr(one, name, _integer(draw, name, sizes))
    elif isinstance(old, float):
        setattr(one, name, draw.number())
    elif isinstance(old, str):
        setattr(one, name, draw.choice(TEXTS))
    elif isinstance(old, list):
        setattr(one, name, [draw.below(3) - 1 for _ in range(draw.choice(sizes))])


def _forest(draw: Draw) -> Any:
    """The arrays of a small forest, some of them changed."""
    arrays = dict(_forest_arrays())
    for _ in range(draw.below(3)):
        name = draw.choice(sorted(arrays))
        array = np.array(arrays[name])
        how = draw.below(4)
        if how == 0 and array.size:
            with np.errstate(all="ignore"):
                array.flat[draw.below(array.size)] = np.array(draw.integer()).astype(array.dtype)
        elif how == 1 and array.ndim:
            array = array[: draw.below(len(array) + 1)]
        elif how == 2 and array.ndim:
            array = np.concatenate([array, array[:1]])
        elif array.ndim:
            array = np.roll(array, 1)
        arrays[name] = array if array.ndim else int(array)
    return _core.Forest(**arrays)


def _integer(draw: Draw, name: str, sizes: tuple[int, int]) -> int:
    if COSTLY.search(name):
        return draw.choice((1, 2, 0, *sizes, -1, 5))
    return draw.choice((*sizes, 0, 1, 2, 16)) if draw.below(4) < 3 else draw.choice(EXTREME_INTEGERS)


def _value(draw: Draw, kind: str, name: str, sizes: tuple[int, int], made: list[Any], depth: int) -> Any:
    array = re.search(r"dtype=(\w+)", kind)
    if array:
        shape = re.search(r"shape=\(([^)]*)\)", kind)
        n_dims = 1 + draw.below(2) if shape is None else shape.group(1).count("*")
        return _array(draw, np.dtype(array.group(1)), n_dims, sizes)
    if kind == "int":
        return _integer(draw, name, sizes)
    if kind == "float":
        return draw.number()
    if kind == "bool":
        return bool(draw.below(2))
    if "Sequence[collections.abc.Sequence" in kind or "Sequence[Sequence" in kind:
        return [[draw.below(4) for _ in range(draw.below(3))] for _ in range(draw.below(3))]
    for owner in CLASSES:
        if re.search(rf"\b{owner}\b", kind):
            if depth > 4:
                raise TypeError("too deep")
            one = _made(draw, owner, sizes, made, depth)
            return [one] * draw.below(3) if "Sequence" in kind else one
    if "Sequence[int]" in kind:
        return [draw.choice((0, 1, 2, 3, -1, -2)) for _ in range(draw.choice((*sizes, 0)))]
    if "Sequence[float]" in kind:
        return [draw.number() for _ in range(draw.choice((*sizes, 0)))]
    if kind == "str":
        return draw.choice(TEXTS)
    return draw.choice((None, 0, "x", np.zeros(3)))


def _array(draw: Draw, dtype: np.dtype, n_dims: int, sizes: tuple[int, int]) -> np.ndarray:
    if n_dims == 1:
        shape: tuple[int, ...] = (draw.choice((*sizes, *sizes, sizes[0] * sizes[1], sizes[0] + 1, 0)),)
    else:
        shape = draw.choice((sizes, sizes, sizes, sizes[::-1], (sizes[0], 1), (0, sizes[1]), (sizes[0], 0)))
        shape = (*shape, *[sizes[1]] * (n_dims - 2))
    rng = draw.rng()
    if dtype.kind == "f":
        array = rng.normal(size=shape)
        for _ in range(draw.below(3) if array.size else 0):
            array.flat[draw.below(array.size)] = draw.choice(EXTREME)
    else:
        array = rng.integers(0, draw.choice((2, 1, 3, *sizes)), shape)
        if draw.below(2) and array.ndim == 1:
            array = np.sort(array) if draw.below(2) else np.arange(array.size)
        for _ in range(draw.below(2) if array.size else 0):
            array.flat[draw.below(array.size)] = max(min(draw.integer(), 2**63 - 1), -(2**63))
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def seeds() -> Iterable[bytes]:
    for place in range(len(_callables())):
        for other in range(3):
            yield bytes([0, 0, other]) + bytes([place]) + np.random.default_rng([place, other]).bytes(50)
