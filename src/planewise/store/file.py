"""Save and load: a fitted estimator as a document and arrays, and back, by its declaration."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from planewise._params import check_parameters
from planewise.store import container
from planewise.store.arrays import ArrayReader, ArrayWriter
from planewise.store.declaration import Declaration, check_columns
from planewise.store.errors import CannotBeSavedError, ModelFileError, require
from planewise.store.places import Place, named, read_bytes, write_bytes
from planewise.store.values import CategoryError, NotPlainError, pack_value, unpack_value

FORMAT = "planewise model"
SCHEMA = 1

# All estimators that files can hold, and where each is declared; nothing else is ever made of a file. Only what a file
# needs is brought in, since all families together take a second to start.
KNOWN = {
    **dict.fromkeys(
        [
            *("SLMClassifier", "SLMRegressor", "SLMForestClassifier", "SLMForestRegressor"),
            *("SLMBoostClassifier", "SLMBoostRanker", "SLMBoostRegressor", "DiscriminantFeatureTest"),
        ],
        "trees",
    ),
    **dict.fromkeys(
        [
            *("MCMClassifier", "MCMRegressor", "MCMClassifierCV", "MCMRegressorCV"),
            *("LargeScaleMCMClassifier", "ConformalKernel"),
        ],
        "machines",
    ),
    "RECIPClassifier": "recip",
    **dict.fromkeys(["AdditiveClassifier", "AdditiveRegressor"], "additive"),
    "TableModel": "table",
}


@cache
def declaration(name: str) -> Declaration:
    """What a file holds of the estimator of this name, one of `KNOWN`."""
    every = import_module(f"planewise.{KNOWN[name]}.saved").MODELS
    return next(declared for declared in every if declared.cls.__name__ == name)


def save(model: Any, target: Place) -> None:
    """Write a fitted estimator to a file that can run no code when it is loaded.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of planewise. Of an estimator from ``planewise.dask``, the file holds the ordinary one. A
        :class:`sklearn.pipeline.Pipeline` is not one: save it with ``skops.io.dump`` (:doc:`/tool_chain`).
    target : path or file object
        Where to; ".planewise" is the usual ending. A path is written in one step: an interrupted save leaves what was
        there before. A file object must be open for writing bytes; it need not be seekable, and stays open.

    Raises
    ------
    TypeError
        If the model is not an estimator of planewise, or the file object is one of text.
    ValueError
        If a parameter is a function or another object that a file cannot hold, or a category is too long a text; the
        error names the parameter or the column.

    Examples
    --------
    >>> import io, planewise
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = planewise.SLMClassifier(random_state=0).fit(X, y)
    >>> file = io.BytesIO()
    >>> planewise.save(model, file)
    >>> again = planewise.load(io.BytesIO(file.getvalue()))
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    arrays = ArrayWriter()
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        "versions": _versions(),
        "model": pack_model(model, arrays),
        "arrays": arrays.described,
    }
    parts = container.Parts(document, arrays.content())
    try:
        _model_of(parts)
    except ModelFileError as error:
        raise CannotBeSavedError(
            f"This {type(model).__name__} cannot be saved, because its file could not be loaded: it {error}."
        ) from None
    write_bytes(target, container.packed(parts))


def load(source: Place) -> Any:
    """Read a fitted estimator from a file of `save`.

    Whatever the file holds, no code in it runs and no memory beyond a multiple of its size is used; every number that
    the compiled core relies on is checked first.

    Parameters
    ----------
    source : path or file object
        The file. A file object must be open for reading bytes; it is read from its position to its end, and stays open.

    Returns
    -------
    model : estimator
        It predicts what the saved one did, to the bit.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged or forged, or has another version of the file format.
    """
    with _errors_of(source):
        return _model_of(_parts_of(source))


def _parts_of(source: Place) -> container.Parts:
    parts = container.unpacked(read_bytes(source))
    _check_version(parts.document)
    return parts


def _check_version(document: dict[str, Any]) -> None:
    """Raise a ModelFileError unless this version of planewise can read the document."""
    require(document.get("format") == FORMAT, "is not a planewise model")
    schema, versions = document.get("schema"), document.get("versions")
    require(type(schema) is int and abs(schema) <= 10**6, "is a model file without a version")
    writer = versions.get("planewise", "?") if isinstance(versions, dict) else "?"
    require(
        schema == SCHEMA,
        f"was written by planewise {str(writer)[:40]} in version {schema} of the file format, and this planewise reads "
        f"only version {SCHEMA}; load it with the planewise that wrote it",
    )
    require(
        isinstance(versions, dict) and "planewise" in versions and all(map(_is_short, [*versions, *versions.values()])),
        "does not say which versions of planewise and its libraries wrote it",
    )


def _is_short(words: Any) -> bool:
    return isinstance(words, str) and len(words) <= 100


@contextmanager
def _errors_of(source: Place) -> Iterator[None]:
    """Errors in a file become sentences that name it."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{named(source)} {str(error).removesuffix('.')}.") from error.__cause__


def _model_of(parts: container.Parts) -> Any:
    document, content = parts
    require(set(document) == {"format", "schema", "versions", "model", "arrays"}, "has missing or unknown parts")
    arrays = ArrayReader(document["arrays"], content)
    with np.errstate(all="ignore"):  # a forged file may hold any numbers
        model = unpack_model(document["model"], arrays)
    arrays.require_all_taken()
    return model


def versions(source: Place) -> dict[str, str]:
    """The versions of planewise and its libraries that wrote a model file."""
    with _errors_of(source):
        found: dict[str, str] = _parts_of(source).document["versions"]
    return found


NEEDED_BY_FIT = {
    "callbacks": "None",
    "cv": "5",
    "scoring": "None",
}  # parameters that predictions never need, and what to set instead


def pack_model(model: Any, arrays: ArrayWriter) -> dict[str, Any]:
    """Return a fitted estimator as JSON; its arrays go to the writer."""
    model = model.to_local() if hasattr(model, "to_local") else model
    declared = _declared(model)
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ValueError(
            f"This {declared.name} is not fitted yet; a model file holds fitted models: call fit first."
        ) from None
    check_parameters(model)
    packed = {
        "kind": declared.name,
        "parameters": _pack_parameters(model, declared, arrays),
        "fitted": _pack_fitted(model, declared, arrays),
    }
    output = getattr(model, "_sklearn_output_config", {}).get("transform")
    return packed if output is None else packed | {"output": output}


def _declared(model: Any) -> Declaration:
    """Return how the estimator is kept, or raise a TypeError that names what saves it."""
    cls = type(model)
    if _is_known(cls):
        return declaration(cls.__name__)
    base = next((each.__name__ for each in cls.__mro__[1:] if _is_known(each)), None)
    why = "" if base is None else f", because it is a subclass of {base}"
    raise TypeError(
        f"A {cls.__name__} cannot be saved to a model file{why}; planewise.save takes only estimators of planewise: "
        f"{', '.join(sorted(KNOWN))}. Save pipelines and other estimators of scikit-learn with skops.io.dump."
    )


def _is_known(cls: type) -> bool:
    return cls.__name__ in KNOWN and cls is declaration(cls.__name__).cls


def _pack_fitted(model: Any, declared: Declaration, arrays: ArrayWriter) -> dict[str, Any]:
    name, fitted = declared.name, {}
    for attribute, kind in declared.kinds.items():
        if attribute in declared.required_kinds or attribute in vars(model):
            try:
                fitted[attribute] = kind.pack(getattr(model, attribute), arrays)
            except CannotBeSavedError:  # an estimator in this one
                raise
            except CategoryError as error:
                names = getattr(model, "feature_names_in_", None)
                column = error.column if names is None else repr(names[error.column])
                raise CannotBeSavedError(
                    f"{name} cannot be saved: column {column} has categories that no file can hold ({error}); give it "
                    "numbers or short texts as categories and fit again."
                ) from None
            except (NotPlainError, ValueError) as error:
                raise CannotBeSavedError(
                    f"{name} cannot be saved: {attribute} contains {error}, which cannot be stored in a file."
                ) from None
    return fitted


def _pack_parameters(model: Any, declared: Declaration, arrays: ArrayWriter) -> dict[str, Any]:
    packed = {}
    for parameter, value in model.get_params(deep=False).items():
        try:
            packed[parameter] = pack_value(value, arrays)
        except (NotPlainError, ValueError) as error:
            raise CannotBeSavedError(
                f"{declared.name} cannot be saved: the parameter {parameter!r} is {error}, and a model file "
                f"holds only plain values. {_instead(parameter, value)}"
            ) from None
    return packed


def _instead(parameter: str, value: Any) -> str:
    """Return what to do about a parameter that no file can hold."""
    keeps = ""
    if getattr(value, "__module__", "").startswith("sklearn."):
        keeps = " Or save the model with skops.io.dump, which can keep objects of scikit-learn."
    if parameter in NEEDED_BY_FIT:
        return f"Predictions do not need it: model.set_params({parameter}={NEEDED_BY_FIT[parameter]}).{keeps}"
    value = f"model.set_params({parameter}=...)"
    return f"If predictions do not need it, put another value in its place first: {value}.{keeps}"


def unpack_model(packed: Any, arrays: ArrayReader) -> Any:
    """Return the estimator, checked before anybody can use it."""
    parts = {"kind", "parameters", "fitted"}
    require(isinstance(packed, dict) and parts <= set(packed) <= {*parts, "output"}, "has a model of an unknown form")
    name = packed["kind"]
    require(isinstance(name, str) and name in KNOWN, "holds a model that this version does not know")
    declared = declaration(name)
    model = _constructed(declared, packed["parameters"], arrays)
    _set_fitted(model, declared, packed["fitted"], arrays)
    if "output" in packed:
        require(packed["output"] in OUTPUTS and hasattr(model, "set_output"), f"has a {name} with an unknown output")
        model.set_output(transform=packed["output"])
    return model


OUTPUTS = ("default", "pandas", "polars")


def _set_fitted(model: Any, declared: Declaration, fitted: Any, arrays: ArrayReader) -> None:
    require(
        isinstance(fitted, dict) and set(declared.required_kinds) <= set(fitted) <= set(declared.kinds),
        f"has a {declared.name} with missing or unknown attributes",
    )
    for attribute, kind in declared.kinds.items():
        if attribute in fitted:
            setattr(model, attribute, kind.unpack(fitted[attribute], arrays, attribute))
    check_columns(model)
    declared.check(model)
    declared.derive(model)


def _constructed(declared: Declaration, packed: Any, arrays: ArrayReader) -> Any:
    """The unfitted estimator with the file's parameters; those it does not name have their defaults."""
    name = declared.name
    require(isinstance(packed, dict), f"has a {name} without parameters")
    known = set(declared.cls._get_param_names())  # type: ignore[attr-defined]
    unknown = sorted(set(packed) - known)
    require(not unknown, f"has a {name} with parameters that this version does not know: {', '.join(unknown)[:200]}")
    values = {parameter: unpack_value(value, arrays) for parameter, value in packed.items()}
    try:
        model = declared.cls(**values)
        check_parameters(model)
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        raise ModelFileError(f"has parameters that are not allowed: {str(error)[:500]}") from error
    return model


def _versions() -> dict[str, str]:
    import planewise

    return {
        "planewise": planewise.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
