"""The registry of methods: ours and the baselines."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from . import grids
from .declaration import Data, Method

DECISION_TREE = Method(
    "DT",
    "sklearn.tree.DecisionTreeClassifier",
    "sklearn.tree.DecisionTreeRegressor",
    fixed_for_classes={"criterion": "entropy"},
    size="decision_tree",
)
TUNED_DECISION_TREE = Method(
    "DT, tuned",
    "sklearn.tree.DecisionTreeClassifier",
    "sklearn.tree.DecisionTreeRegressor",
    fixed_for_classes={"criterion": "entropy"},
    grid=grids.DECISION_TREE,
    size="decision_tree",
)
RANDOM_FOREST = Method(
    "RF",
    "sklearn.ensemble.RandomForestClassifier",
    "sklearn.ensemble.RandomForestRegressor",
    fixed={"n_estimators": 100},
    grid=grids.RANDOM_FOREST,
    size="random_forest",
)
XGBOOST = Method(
    "XGBoost",
    "xgboost.XGBClassifier",
    "xgboost.XGBRegressor",
    fixed={"n_estimators": 100, "n_jobs": 1},
    grid=grids.XGBOOST,
)
LINEAR_SVM = Method(
    "LSVM",
    "sklearn.svm.SVC",
    fixed={"kernel": "linear"},
    grid=grids.LINEAR_SVM,
    scaled=True,
    size="support_vector_machine",
)
RBF_SVM = Method("SVM/RBF", "sklearn.svm.SVC", grid=grids.RBF_SVM, scaled=True, size="support_vector_machine")
LINEAR_SVR = Method("LSVR", "", "sklearn.svm.LinearSVR", fixed={"max_iter": 10_000}, grid=grids.LINEAR_SVR, scaled=True)
RBF_SVR = Method(
    "SVR/RBF",
    "",
    "sklearn.svm.SVR",
    fixed={"epsilon": 0.02, "cache_size": 500},
    grid=grids.RBF_SVR,
    scaled=True,
    seeded=False,
)
FF_MLP = Method(
    "FF-MLP",
    "benchmarks.reproduce.networks.FeedforwardMLPClassifier",
    grid=grids.NETWORK,
    scaled=True,
    size="network",
    package="sklearn",
)
BP_MLP = Method(
    "BP-MLP",
    "benchmarks.reproduce.networks.BackpropagatedMLPClassifier",
    fixed={"epochs": 50},
    grid=grids.NETWORK,
    scaled=True,
    size="network",
    package="sklearn",
)
SLM_BASELINE = Method(
    "SLM Baseline", "planewise.SLMClassifier", "planewise.SLMRegressor", grid=grids.SLM_BASELINE, size="slm"
)
SLM_DEFAULTS = Method("SLM, defaults", "planewise.SLMClassifier", "planewise.SLMRegressor", size="slm")
SLM_FOREST = Method(
    "SLM Forest",
    "planewise.SLMForestClassifier",
    "planewise.SLMForestRegressor",
    fixed={"n_estimators": 20},
    grid=grids.SLM_FOREST,
    size="slm",
)
SLM_FOREST_DEFAULTS = Method(
    "SLM Forest, defaults", "planewise.SLMForestClassifier", "planewise.SLMForestRegressor", size="slm"
)
SLM_BOOST = Method(
    "SLM Boost",
    "planewise.SLMBoostClassifier",
    "planewise.SLMBoostRegressor",
    fixed={"n_estimators": 100},
    grid=grids.SLM_BOOST,
)
SLM_BASELINE_PUBLISHED = Method(
    "SLM Baseline, published",
    "planewise.published.slm_classifier",
    "planewise.published.slr_regressor",
    grid=grids.SLM_BASELINE_PUBLISHED,
    size="slm",
)
SLM_FOREST_PUBLISHED = Method(
    "SLM Forest, published",
    "planewise.published.slm_forest_classifier",
    "planewise.published.slr_forest_regressor",
    grid=grids.SLM_FOREST_PUBLISHED,
    size="slm",
)
SLM_BOOST_PUBLISHED = Method(
    "SLM Boost, published",
    "planewise.published.slm_boost_classifier",
    "planewise.published.slr_boost_regressor",
    grid=grids.SLM_BOOST_PUBLISHED,
)

_SEARCH = {"cv": 3, "n_repeats": 2}


def _mcm(name: str, conformal: str = "none", grid: dict[str, Any] = grids.MCM) -> Method:
    """Our search for the machine."""
    return Method(
        name,
        "planewise.MCMClassifierCV",
        fixed=_SEARCH | {"conformal": conformal},
        grid=grid,
        searches_itself=True,
        size="minimal_complexity_machine",
    )


MCM = _mcm("MCM")
MCM_WITH_NORM = _mcm("MCM, rho > 0", grid=grids.MCM_WITH_NORM)
MCM_SIGNED = _mcm("MCM conformal", "signed")
MCM_SHRUNK = _mcm("MCM shrunk", "shrunk")
MCM_PUBLISHED = Method(
    "MCM, published",
    "planewise.published.mcm_search",
    fixed={"cv": 3},
    grid=grids.MCM_PUBLISHED,
    searches_itself=True,
    size="minimal_complexity_machine",
)
MCM_CONFORMAL_PUBLISHED = Method(
    "MCM conformal, published",
    "planewise.published.mcm_conformal_search",
    fixed={"cv": 3},
    grid=grids.MCM_CONFORMAL_PUBLISHED,
    searches_itself=True,
    size="minimal_complexity_machine",
)


def mcm_as_published(mu: float, conformal: str) -> Method:
    """The published search over its thinned grid, with a penalty mu that it does not have."""
    published = {"slack": "sum", "relaxation": 1.0, "scaling": "standard", "selection": "first", "max_support": 1.0}
    published |= {"rhos": (0.0,), "multi_class": "ovr"}
    published |= {"max_iter": 5000}  # what a small set takes, if it is ever solved
    points = grids.MCM_CONFORMAL_PUBLISHED
    more = {} if conformal == "none" else {"gammas_conformal": points["gamma_c"]}
    return Method(
        f"{'plain' if conformal == 'none' else conformal}, mu={mu:g}",
        "planewise.MCMClassifierCV",
        fixed=published | {"cv": 3, "n_repeats": 1, "conformal": conformal},
        grid={"Cs": points["C"], "mus": (mu,), "gammas": points["gamma"]} | more,
        searches_itself=True,
        size="minimal_complexity_machine",
    )


MCM_AS_PUBLISHED = tuple(mcm_as_published(mu, form) for mu in (0.0, 1e-6, 1e-4) for form in ("none", "signed"))
MCM_AS_PRINTED = mcm_as_published(0.0, "printed")
SVC = Method(
    "SVC", "sklearn.svm.SVC", grid=grids.SVC, repeats=_SEARCH["n_repeats"], scaled=True, size="support_vector_machine"
)
WIDE_SVC = Method("SVC, wide grid", "sklearn.svm.SVC", grid=grids.WIDE_SVC, scaled=True, size="support_vector_machine")
LARGE_SCALE_MCM = Method(
    "LS MCM", "planewise.LargeScaleMCMClassifier", grid=grids.LARGE_SCALE_MCM, size="large_scale_machine"
)
LARGE_SCALE_PUBLISHED = Method(
    "LS MCM, published", "planewise.published.ls_mcm", grid=grids.LARGE_SCALE_PUBLISHED, size="large_scale_machine"
)


def staged(name: str, first: Method, conformal: str, factor: dict[str, Any], gamma_c: str) -> Method:
    """A conformal machine whose gamma_c is tuned at the best point of the plain one, as in the paper's Section 5."""
    return Method(
        name,
        "benchmarks.reproduce.staged.StagedMachine",
        fixed={"plain": first.classifier, "conformal": conformal, "factor": factor},
        grid={"first": first.grid, "then": {gamma_c: grids.LARGE_SCALE_GAMMA_C}},
        searches_itself=True,
        size="large_scale_machine",
        package="planewise",
    )


LARGE_SCALE_CONFORMAL, LARGE_SCALE_SHRUNK = (
    staged(name, LARGE_SCALE_MCM, LARGE_SCALE_MCM.classifier, {"conformal": form}, "gamma_conformal")
    for name, form in (("LS Conf MCM", "signed"), ("LS shrunk MCM", "shrunk"))
)
LARGE_SCALE_CONFORMAL_PUBLISHED = staged(
    "LS Conf MCM, published", LARGE_SCALE_PUBLISHED, "planewise.published.ls_mcm_conformal", {}, "gamma_c"
)

_RECIP = "planewise.RECIPClassifier"
_NEIGHBOURS = "sklearn.neighbors.KNeighborsClassifier"
_PRINTED = "planewise.published.recip"
_MAIN = {"classifier": "benchmarks.reproduce.batches.main_views", "seeded": False, "package": "planewise"}
_KNOWN = {"classifier": "planewise.published.recip_known", "seeded": False}
RECIP = Method("RECIP", _PRINTED, seeded=False)
RECIP_MAIN = Method("RECIP, main views", **_MAIN)
RECIP_KNOWN = Method("known", fixed={"projections": "known"}, **_KNOWN)
RECIP_VOTE = Method("voting", "planewise.published.recip_voting", seeded=False)
RECIP_VOTE_MAIN = Method("voting, main views", fixed={"voting": True}, **_MAIN)
RECIP_VOTE_KNOWN = Method("voting, known", fixed={"projections": "known", "voting": True}, **_KNOWN)
RECIP_OURS = Method("RECIP, ours", _RECIP)
RECIP_PUBLISHED = Method("RECIP", _PRINTED, fixed={"d": "all"}, grid=grids.RECIP_PUBLISHED, seeded=False)
RECIP_MAIN_TUNED = Method("RECIP, main views", fixed={"d": "all"}, grid=grids.RECIP_PUBLISHED, **_MAIN)
RECIP_TUNED = Method("RECIP, ours", _RECIP, fixed={"max_candidates": 500}, grid=grids.RECIP)


def recip_lasso(share: float, *, robust: bool = False, as_many: bool = False) -> Method:
    """A published lasso; `share` is of the smallest penalty that makes all coefficients 0, `as_many` views as pairs."""
    name = f"{'robust ' if robust else ''}lasso{', t' if as_many else ''}, {share:g}"
    path = f"planewise.published.recip_{'robust_' if robust else ''}lasso"
    return Method(name, path, fixed={"share": share} | ({"t": "pairs"} if as_many else {}), seeded=False)


def recip_settings(**settings: float) -> Method:
    """Published RECIP with these settings."""
    name = ", ".join(f"{parameter} = {value:g}" for parameter, value in settings.items())
    return Method(name, _PRINTED, fixed=settings, seeded=False)


NEAREST_NEIGHBOUR = Method("KNN", _NEIGHBOURS, fixed={"n_neighbors": 1}, seeded=False)
FIVE_NEIGHBOURS = Method("KNN, K = 5", _NEIGHBOURS, fixed={"n_neighbors": 5}, seeded=False)
NEIGHBOURS = Method("KNN", _NEIGHBOURS, grid=grids.NEIGHBOURS, seeded=False)
FOREST_DEFAULTS = Method("RF", "sklearn.ensemble.RandomForestClassifier")
SCALED_NEIGHBOURS = Method("KNN, standardised", _NEIGHBOURS, grid=grids.NEIGHBOURS, scaled=True, seeded=False)

# ------------------------------------------------- peers, as they come
_ROUNDS = {"n_estimators": 100, "learning_rate": 0.1, "n_jobs": 1}
PEER_BOOST = Method("planewise", "planewise.SLMBoostClassifier", "planewise.SLMBoostRegressor", fixed=_ROUNDS)
LIGHTGBM = Method("LightGBM", "lightgbm.LGBMClassifier", "lightgbm.LGBMRegressor", fixed=_ROUNDS | {"verbose": -1})
XGBOOST_DEFAULTS = Method("XGBoost", "xgboost.XGBClassifier", "xgboost.XGBRegressor", fixed=_ROUNDS)
CATBOOST = Method(
    "CatBoost",
    "catboost.CatBoostClassifier",
    "catboost.CatBoostRegressor",
    fixed={
        "iterations": 100,
        "learning_rate": 0.1,
        "thread_count": 1,
        "allow_writing_files": False,
        "verbose": 0,
    },
)
HISTOGRAM_BOOSTING = Method(
    "scikit-learn",
    "sklearn.ensemble.HistGradientBoostingClassifier",
    "sklearn.ensemble.HistGradientBoostingRegressor",
    fixed={"max_iter": 100, "learning_rate": 0.1, "early_stopping": False},
)
YDF = Method(
    "YDF oblique",
    "benchmarks.duels.ydf_oblique.ObliqueBoostingClassifier",
    "benchmarks.duels.ydf_oblique.ObliqueBoostingRegressor",
    fixed={"n_estimators": 100},
    package="ydf",
)
PEER_MACHINE = Method("planewise", "planewise.MCMClassifierCV", fixed={"cv": 3})
PEER_SVC = Method("SVC", "sklearn.svm.SVC", grid=grids.PEER_SVC, scaled=True)
PEER_VIEWS = Method("planewise", _RECIP)
PEER_NEIGHBOURS = Method("KNN", _NEIGHBOURS, grid=grids.NEIGHBOURS, scaled=True, seeded=False)
EBM = Method("EBM", "interpret.glassbox.ExplainableBoostingClassifier", fixed={"n_jobs": 1}, package="interpret")
PIP_NAMES = {"interpret": "interpret-core", "sklearn": "scikit-learn"}


def missing(method: Method) -> list[str]:
    """The packages it needs that are not installed."""
    return sorted(name for name in method.needs if importlib.util.find_spec(name) is None)


def build(method: Method, data: Data, seed: int) -> Any:
    """The untuned estimator with what goes before it: gaps filled and rows scaled, from the training part alone."""
    path = method.regressor if data.task == "regression" else method.classifier
    module, _, name = path.rpartition(".")
    parameters = dict(method.fixed) | (dict(method.grid) if method.searches_itself else {})
    if data.task == "classification":
        parameters |= method.fixed_for_classes
    if method.seeded:
        parameters["random_state"] = seed
    estimator = getattr(importlib.import_module(module), name)(**parameters)
    before = [("fill", SimpleImputer(strategy="median", keep_empty_features=True))] + (
        [("scale", StandardScaler())] if method.scaled else []
    )
    whole = Pipeline([*before, ("model", estimator)])
    if method.scaled and data.task == "regression":
        return TransformedTargetRegressor(whole, transformer=StandardScaler())
    return whole


def grid(method: Method, data: Data) -> dict[str, Any]:
    """What to search, by the names the built estimator has for it."""
    if method.searches_itself:
        return {}
    prefix = "regressor__model__" if method.scaled and data.task == "regression" else "model__"
    return {prefix + name: values for name, values in method.grid.items()}


def fitted_model(whole: Any) -> Any:
    """The estimator itself, without what goes before it."""
    pipeline = getattr(whole, "regressor_", whole)
    return pipeline.named_steps["model"]
