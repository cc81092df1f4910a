"""Versions of the file format: which are read, and what the models of earlier ones are called today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sklearn

from planewise.io._errors import require

FORMAT = "planewise model"
SCHEMA = 8

# Version 1 had a parameter `scale`, of different meanings; `scaling` now has the same words in all estimators.
_THREE = {True: "arcsinh", "standard": "standard", False: None}
_TWO = {True: "standard", False: None}
_SCALES: dict[str, Mapping[Any, Any]] = {
    **dict.fromkeys(["MCMClassifier", "MCMRegressor", "MCMClassifierCV", "RECIPClassifier"], _THREE),
    **dict.fromkeys(["LargeScaleMCMClassifier"], _TWO),
}
_NAMES = {"RECIPClassifier": {"smoothing": "prior_weight", "alpha": "tsallis_order"}}
# Version 5 has the same words for scaling and gamma in all machines; by machine and parameter, those it had before.
_WORDS = {
    "LargeScaleMCMClassifier": {"scaling": {"standard": "robust"}, "gamma": {"auto": "search"}},
}


def check_version(document: Mapping[str, Any]) -> None:
    """An error if the file is not of a version that can be read."""
    require(document.get("format") == FORMAT, "is not a planewise model")
    schema, versions = document.get("schema"), document.get("versions")
    require(type(schema) is int and 1 <= schema <= 10**6, "is a model file without a version")
    assert isinstance(schema, int)
    writer = versions.get("planewise", "?") if isinstance(versions, dict) else "?"
    require(
        schema <= SCHEMA,
        f"was written by planewise {str(writer)[:40]} in version {schema} of the file format, and this planewise reads "
        f"versions up to {SCHEMA}; install a newer planewise to read it",
    )
    require(
        isinstance(versions, dict) and "planewise" in versions and all(map(_is_short, [*versions, *versions.values()])),
        "does not say which versions of planewise and its libraries wrote it",
    )


def _is_short(words: Any) -> bool:
    return isinstance(words, str) and len(words) <= 100


def other_scikit_learn(document: Mapping[str, Any]) -> str | None:
    """The version of scikit-learn that wrote the file, unless its first two numbers are those of the one in use."""
    writer = document["versions"].get("scikit-learn")
    if writer is None:
        return "of an unknown version"
    return None if writer.split(".")[:2] == sklearn.__version__.split(".")[:2] else writer[:40]


def upgrade(document: Mapping[str, Any]) -> Any:
    """The document's model as this version would write it; what is wrong in it is left for others to find."""
    model = document["model"]
    for before, change in ((2, _renamed), (5, _reworded)):
        inner = model
        while document["schema"] < before and isinstance(inner, dict):
            inner = _with_parameters(inner, change)
    if document["schema"] < 5:
        inner = model
        while isinstance(inner, dict):
            inner = _with_scaling(inner)
    return model


def _inside(packed: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """The fitted attributes of a model, and the model inside it, if there is one."""
    fitted = packed.get("fitted")
    fitted = fitted if isinstance(fitted, dict) else {}
    return fitted, fitted.get("estimator_", fitted.get("best_estimator_"))


def _with_parameters(packed: dict[str, Any], change: Callable[[Any, dict[str, Any]], dict[str, Any]]) -> Any:
    """Change the parameters of this model in place; the model inside it, if there is one."""
    _, inner = _inside(packed)
    if isinstance(packed.get("parameters"), dict):
        packed["parameters"] = change(packed.get("kind"), packed["parameters"])
        settings = packed["parameters"].get("settings")
        if isinstance(inner, dict) and isinstance(settings, dict) and isinstance(settings.get("dict"), list):
            pairs = [pair for pair in settings["dict"] if isinstance(pair, list) and len(pair) == 2]
            if all(isinstance(name, str) for name, _ in pairs) and len(pairs) == len(settings["dict"]):
                settings["dict"] = [list(pair) for pair in change(inner.get("kind"), dict(pairs)).items()]
    return inner


def _with_scaling(packed: dict[str, Any]) -> Any:
    """Rename the scaling of some machines in place; the model inside this one, if there is one."""
    fitted, inner = _inside(packed)
    if isinstance(packed.get("kind"), str) and packed["kind"] in _WORDS and "_standardisation" in fitted:
        old = fitted.pop("_standardisation")
        if isinstance(old, dict) and set(old) == {"centre", "scale"}:
            old = {"mean": old["centre"], "spread": old["scale"], "drawn_in": None}
        fitted["_scaling"] = old
    return inner


def _reworded(kind: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    words = _WORDS.get(kind, {}) if isinstance(kind, str) else {}
    return {
        name: words.get(name, {}).get(value, value) if isinstance(value, str) else value
        for name, value in parameters.items()
    }


def _renamed(kind: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    kind = kind if isinstance(kind, str) else ""
    names, scales = _NAMES.get(kind, {}), _SCALES.get(kind)
    out = {}
    for name, value in parameters.items():
        if name == "scale" and scales is not None:
            plain = isinstance(value, (bool, str))
            out["scaling"] = scales.get(value, value) if plain else value
        else:
            out[names.get(name, name)] = value
    return out
