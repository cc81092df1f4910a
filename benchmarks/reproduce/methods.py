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
NETWORK = Method(
    "BP-MLP",
    "sklearn.neural_network.MLPClassifier",
    fixed={"solver": "lbfgs", "max_iter": 300, "hidden_layer_sizes": "the paper's"},
    grid=grids.NETWORK,
    scaled=True,
    size="network",
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

_SEARCH = {"cv": 3, "n_repeats": 2}
MCM = Method(
    "MCM",
    "planewise.MCMClassifierCV",
    fixed=_SEARCH | {"conformal": "none"},
    grid=grids.MCM,
    searches_itself=True,
    size="minimal_complexity_machine",
)
MCM_SIGNED = Method(
    "MCM conformal",
    "planewise.MCMClassifierCV",
    fixed=_SEARCH | {"conformal": "signed"},
    grid=grids.MCM_CONFORMAL,
    searches_itself=True,
    size="minimal_complexity_machine",
)
MCM_SHRUNK = Method(
    "MCM shrunk",
    "planewise.MCMClassifierCV",
    fixed=_SEARCH | {"conformal": "shrunk"},
    grid=grids.MCM_SHRUNK,
    searches_itself=True,
    size="minimal_complexity_machine",
)
SVC = Method(
    "SVC", "sklearn.svm.SVC", grid=grids.SVC, repeats=_SEARCH["n_repeats"], scaled=True, size="support_vector_machine"
)
LARGE_SCALE_MCM = Method(
    "LS MCM", "planewise.LargeScaleMCMClassifier", grid=grids.LARGE_SCALE_MCM, size="large_scale_machine"
)
LARGE_SCALE_CONFORMAL = Method(
    "LS Conf MCM",
    "planewise.LargeScaleMCMClassifier",
    fixed={"conformal": "signed"},
    grid=grids.LARGE_SCALE_CONFORMAL,
    size="large_scale_machine",
)

LARGE_SCALE_SHRUNK = Method(
    "LS shrunk MCM",
    "planewise.LargeScaleMCMClassifier",
    fixed={"conformal": "shrunk"},
    grid=grids.LARGE_SCALE_CONFORMAL,
    size="large_scale_machine",
)

_RECIP = "planewise.RECIPClassifier"
_NEIGHBOURS = "sklearn.neighbors.KNeighborsClassifier"
_PUBLISHED = {"estimate": "distances", "k": 1}
_KNOWN = {"projections": "known"}
_VOTE = {"decide": "vote"}
RECIP = Method("RECIP", _RECIP, fixed=_PUBLISHED | {"selection": "recip", "lam": 5.0})
RECIP_KNOWN = Method("known", _RECIP, fixed=_PUBLISHED | _KNOWN)
RECIP_VOTE = Method("voting", _RECIP, fixed=_PUBLISHED | {"selection": "recip", "lam": 5.0} | _VOTE)
RECIP_VOTE_KNOWN = Method("voting, known", _RECIP, fixed=_PUBLISHED | _KNOWN | _VOTE)
RECIP_OURS = Method("RECIP, ours", _RECIP)
RECIP_LASSO = Method("lasso", _RECIP, fixed=_PUBLISHED | {"selection": "lasso"})
RECIP_ROBUST_LASSO = Method("robust lasso", _RECIP, fixed=_PUBLISHED | {"selection": "robust_lasso"})
RECIP_TUNED = Method("RECIP", _RECIP, fixed={"max_candidates": 500}, grid=grids.RECIP)
NEAREST_NEIGHBOUR = Method("KNN", _NEIGHBOURS, fixed={"n_neighbors": 1}, seeded=False)
FIVE_NEIGHBOURS = Method("KNN, K = 5", _NEIGHBOURS, fixed={"n_neighbors": 5}, seeded=False)
NEIGHBOURS = Method("KNN", _NEIGHBOURS, grid=grids.NEIGHBOURS, scaled=True, seeded=False)

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
PEER_SVC = Method("SVC", "sklearn.svm.SVC", grid=grids.SVC, scaled=True)
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
    if "hidden_layer_sizes" in parameters:
        parameters["hidden_layer_sizes"] = data.hidden
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
