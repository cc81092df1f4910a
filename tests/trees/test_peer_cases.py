"""Cases that LightGBM and XGBoost test of their scikit-learn estimators, as planewise meets them."""

from __future__ import annotations

import inspect
import io
import pickle
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from quick_boosting import CANCER, IRIS, NUMBERS, classifier, halves, regressor
from scipy.special import expit, softmax
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_linnerud,
    make_multilabel_classification,
)
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import planewise
from planewise import SLMBoostClassifier, SLMBoostRegressor
from planewise.data.problem import thread_count

ROOT = Path(__file__).parents[2]


def squared_error(y, score):
    return score - y, np.ones_like(score)


def logistic(y, score):
    p = expit(score)
    return p - y, p * (1 - p)


def multinomial(y, score):
    p = softmax(score, axis=1)
    return p - np.eye(score.shape[1])[y.astype(int)], 2 * p * (1 - p)  # twice, as in XGBoost


# ------------------------------------------------------------------------------------------------------- custom losses
# Without the trials of depth and smoothing, which need the value of a loss, and from the same start.
PLAIN = {"max_depth": 3, "smoothing": 0.0, "base_score": 0.0, "n_estimators": 20}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("data", "make", "own"),
    [(NUMBERS, regressor, squared_error), (CANCER, classifier, logistic), (IRIS, classifier, multinomial)],
    ids=["numbers", "two classes", "three classes"],
)
def test_a_custom_loss_equals_the_built_in_one(data, make, own, weighted):
    X, y = data
    weight = 1 + np.arange(len(y)) % 3 if weighted else None
    ours, theirs = (make(**PLAIN, **more).fit(X, y, sample_weight=weight) for more in ({}, {"loss": own}))
    one, other = (m.decision_function(X) if is_classifier(m) else m.predict(X) for m in (ours, theirs))
    assert_allclose(other, one, rtol=0.05, atol=0.05 * np.abs(one).max())
    if is_classifier(theirs):  # probabilities, not raw scores
        assert_allclose(theirs.predict_proba(X).sum(axis=1), 1)


def test_errors_in_a_custom_loss_reach_the_user():
    class OwnError(Exception):
        pass

    def broken(y, score):
        raise OwnError

    with pytest.raises(OwnError):
        regressor(loss=broken).fit(*NUMBERS)
    fitted = classifier().fit(*CANCER)
    before = fitted.predict(CANCER[0])
    assert_array_equal(fitted.set_params(loss=logistic).predict(CANCER[0]), before)  # it counts in the next fit


def test_probabilities_are_the_sigmoid_of_the_scores():
    X, y = CANCER
    model = classifier().fit(X, y)
    assert_allclose(
        model.predict_proba(X),
        np.column_stack([1 - expit(model.decision_function(X)), expit(model.decision_function(X))]),
    )


# --------------------------------------------------------------------------------------- scikit-learn's meta-estimators
def test_stacking():
    X, y, X_test, y_test = halves(IRIS)
    given = [("a", classifier()), ("b", make_pipeline(StandardScaler(), LogisticRegression()))]
    stacked = StackingClassifier(given, final_estimator=classifier(), passthrough=True).fit(X, y)
    assert stacked.score(X_test, y_test) > 0.8
    assert stacked.final_estimator_.n_features_in_ == len(stacked.final_estimator_.feature_importances_) == 10
    X, y, X_test, y_test = halves(NUMBERS)
    stacked = StackingRegressor([("a", regressor()), ("b", RidgeCV())], final_estimator=regressor()).fit(X, y)
    assert stacked.score(X_test, y_test) > 0.1


def test_searches_pass_validation_rows_on():
    X, y, X_val, y_val = halves((IRIS[0], IRIS[1].astype(str)))
    grid = {"n_estimators": [4, 6], "reg_lambda": [0.5, 2.0]}
    model = classifier(early_stopping=True, n_iter_no_change=2)
    for search in (GridSearchCV(model, grid, cv=2), RandomizedSearchCV(model, grid, n_iter=3, cv=2, random_state=0)):
        search.fit(X, y, X_val=X_val, y_val=y_val)
        assert search.best_params_["n_estimators"] in (4, 6)
        best = search.best_estimator_
        assert len(best.validation_score_) >= best.best_iteration_
        assert search.score(X_val, y_val) > 0.8


def test_every_parameter_reaches_a_search():
    X, y = IRIS
    search = GridSearchCV(classifier(n_estimators=3), {"learning_rate": [1e-9, 0.2, 0.9]}, cv=3, scoring="neg_log_loss")
    assert len(set(search.fit(X, y).cv_results_["mean_test_score"])) == 3
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    assert_array_equal(cross_val_score(classifier(), X, y, cv=folds), cross_val_score(classifier(), X, y, cv=folds))


def test_multi_output_wrappers_and_chains():
    X, y = make_multilabel_classification(100, n_classes=3, random_state=0)
    many = MultiOutputClassifier(classifier()).fit(X, y.astype(str))
    assert_array_equal(np.concatenate(many.classes_), ["0", "1"] * 3)
    chain = ClassifierChain(classifier(), order=[2, 0, 1]).fit(X, y)
    assert chain.order_ == [2, 0, 1]
    assert chain.score(X, y) > 0.2
    X, y = load_linnerud(return_X_y=True)
    assert MultiOutputRegressor(regressor()).fit(X, y).predict(X).shape == y.shape
    assert RegressorChain(regressor(), order=[2, 0, 1]).fit(X, y).predict(X).shape == y.shape


def test_selection_of_features():
    X, y = load_digits(n_class=2, return_X_y=True)
    selector = SelectFromModel(classifier().fit(X, y), prefit=True, max_features=1)
    assert selector.transform(X).shape == (len(y), 1)
    X, y = IRIS[0].copy(), IRIS[1]
    X[:4] = np.nan
    for model, scoring in ((classifier(n_estimators=3), "neg_log_loss"), (regressor(n_estimators=3), "r2")):
        assert RFECV(model, step=0.5, cv=3, scoring=scoring).fit(X, y).n_features_ >= 1


def test_calibration_of_a_fitted_model_on_a_frame():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = classifier().fit(X, y)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model), method="isotonic").fit(X, y)
    assert_array_equal(calibrated.classes_, [0, 1])


# ------------------------------------------------------------------------------------------- parameters and inheritance
def test_classifier_and_regressor_have_the_same_defaults():
    names = [inspect.signature(each).parameters for each in (SLMBoostClassifier, SLMBoostRegressor)]
    shared = set(names[0]) & set(names[1])
    different = {name for name in shared if names[0][name].default != names[1][name].default}
    assert not different
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in names[0].values())
    assert names[0]["verbose"].default == names[1]["verbose"].default == 0


def test_a_subclass_lists_its_parameters():
    class Named(SLMBoostRegressor):
        def __init__(self, *, name="none", n_estimators=100, random_state=None):
            self.name = name
            super().__init__(n_estimators=n_estimators, random_state=random_state)

    X, y = NUMBERS
    model = Named(name="one", n_estimators=3, random_state=0).fit(X, y)
    assert clone(model).get_params() == {"name": "one", "n_estimators": 3, "random_state": 0}
    assert_array_equal(model.predict(X), regressor(n_estimators=3).fit(X, y).predict(X))


def test_generators_of_random_numbers():
    X, y = IRIS
    one, two = (classifier(subsample=0.5, random_state=np.random.RandomState(5)).fit(X, y) for _ in range(2))
    before = one.decision_function(X)
    assert_array_equal(before, two.decision_function(X))
    assert not np.array_equal(one.fit(X, y).decision_function(X), before)  # the stream has moved on
    with pytest.raises(ValueError, match=r"'random_state' of SLMBoostClassifier must be an integer.*RandomState"):
        classifier(random_state=np.random.default_rng(5)).fit(X, y)


def test_numbers_of_jobs(monkeypatch):
    monkeypatch.setattr("planewise.data.problem.cpu_count", lambda: 6)
    assert [thread_count(n_jobs) for n_jobs in (None, 3, -1, -2)] == [1, 3, 6, 5]
    with pytest.raises(ValueError, match="'n_jobs' of SLMBoostClassifier must be an integer other than 0"):
        classifier(n_jobs=0).fit(*IRIS)


@pytest.mark.parametrize("own", [False, True])
def test_fits_are_silent(own, capfd, recwarn):
    regressor(**{"loss": squared_error} if own else {"max_depth": 8}).fit(*NUMBERS)
    told = capfd.readouterr()
    assert told.out == told.err == ""
    assert not recwarn.list


# ------------------------------------------------------------------------------------------------------- importances
def test_a_model_without_splits_has_importances_of_zero():
    assert_array_equal(classifier(min_child_weight=1e6).fit(*IRIS).feature_importances_, np.zeros(4))


# ---------------------------------------------------------------------------------------------------------- predictions
def test_large_targets_and_weights_of_zero():
    X, y = NUMBERS
    assert np.isfinite(regressor().fit(X, y + 1e30).predict(X)).all()
    with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero number"):
        regressor().fit(X, y, sample_weight=np.zeros(len(y)))


def test_a_fit_finds_the_classes_anew():
    X, y = IRIS
    model = classifier()
    for _ in range(2):
        assert model.fit(X, y).decision_function(X).shape == (150, 3)
        assert model.fit(X, y > 0).decision_function(X).shape == (150,)


def test_class_weights_do_not_depend_on_the_kind_of_label():
    X, y = IRIS
    y = np.where(np.arange(150) % 5, y, 0)  # no longer balanced
    numbers, words = (classifier(class_weight="balanced").fit(X, each) for each in (y, y.astype(str)))
    assert_array_equal(numbers.predict_proba(X), words.predict_proba(X))
    given = classifier(class_weight={"0": 2.0, "1": 1.0, "2": 1.0}).fit(X, y.astype(str))
    assert not np.array_equal(given.predict_proba(X), words.predict_proba(X))


def test_where_scores_start():
    X, y = NUMBERS
    model = regressor(base_score=None).fit(X, y)
    assert model.base_score_ == pytest.approx(y.mean())
    assert_array_equal(regressor(base_score=100.0).fit(X, y).base_score_, [100.0])
    three = classifier().fit(*IRIS).base_score_
    assert_allclose(softmax(three), np.full(3, 1 / 3))


# --------------------------------------------------------------------------------------------- files and continued fits
def test_pickles_keep_custom_losses_and_histories(tmp_path):
    X, y = NUMBERS
    model = regressor(loss=squared_error, verbose=0).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    assert again.loss is squared_error
    assert_array_equal(again.predict(X), model.predict(X))
    watched = regressor().fit(X, y, X_val=X, y_val=y)
    assert_array_equal(pickle.loads(pickle.dumps(watched)).validation_score_, watched.validation_score_)


def test_a_callback_need_not_be_picklable():
    rounds = []
    stream = io.StringIO()

    def callback(number, losses):
        rounds.append(number)
        stream.write(f"{losses}")

    model = regressor(callbacks=[callback]).fit(*NUMBERS)
    assert rounds == [1, 2, 3, 4, 5]
    with pytest.raises((AttributeError, pickle.PicklingError, TypeError)):
        pickle.dumps(model)
    pickle.loads(pickle.dumps(model.set_params(callbacks=None)))


@pytest.mark.parametrize("saved", [False, True])
def test_more_rounds_continue_a_fit(saved, tmp_path):
    X, y = CANCER
    model = classifier(warm_start=True).fit(X, y, X_val=X, y_val=y)
    if saved:
        planewise.save(model, tmp_path / "model")
        model = planewise.load(tmp_path / "model")
    first = -model.validation_score_
    more = model.set_params(n_estimators=10).fit(X, y, X_val=X, y_val=y)
    assert more.n_iter_ == 10
    assert -more.validation_score_[:5] == pytest.approx(first)
    assert -more.validation_score_[-1] < first[-1]


# ------------------------------------------------------------------------------------------------------- kinds of input
def as_rows(X, kind):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return {
        "list": X.tolist(),
        "array": X,
        "frame": frame,
        "arrow": pa.Table.from_pandas(frame),
        "sparse columns": frame.astype(pd.SparseDtype(float, 0.0)),
    }[kind]


def as_column(y, kind):
    return {
        "list": y.tolist(),
        "array": y,
        "series": pd.Series(y),
        "arrow": pa.array(y),
        "chunks": pa.chunked_array([y]),
    }[kind]


@pytest.mark.parametrize("rows", ["list", "array", "frame", "arrow", "sparse columns"])
@pytest.mark.parametrize("column", ["list", "array", "series", "arrow", "chunks"])
def test_kinds_of_tables_and_columns(rows, column):
    weight = as_column(1.0 + np.arange(150) % 2, column)
    given, plain = as_rows(IRIS[0], rows), classifier().fit(*IRIS, sample_weight=1.0 + np.arange(150) % 2)
    model = classifier().fit(given, as_column(IRIS[1], column), sample_weight=weight)
    answer = model.predict(given)
    assert answer.dtype.kind == "i"
    assert_array_equal(answer, plain.predict(IRIS[0]))
    target = as_column(IRIS[0][:, 0], column)
    assert regressor().fit(given, target, sample_weight=weight).predict(given).dtype == np.float64


# ----------------------------------------------------------------------------------------------------------- categories
def words_and_numbers(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "word": pd.Categorical(rng.choice(list("abcd"), n_rows)),
            "digit": pd.Categorical(rng.integers(1, 4, n_rows)),
            "grade": pd.Categorical(rng.choice(list("xyz"), n_rows), ordered=True),
            "size": rng.normal(size=n_rows),
        }
    )
    return frame, frame["word"].isin(["a", "c"]).to_numpy() * 3.0 + frame["size"].to_numpy()


def test_categories_of_frames(tmp_path):
    frame, y = words_and_numbers()
    model = regressor(n_estimators=10).fit(frame, y)
    assert sorted(model.categories_) == [0, 1, 2]
    assert model.categories_[0].tolist() == list("abcd")
    by_name, by_number = (
        regressor(n_estimators=10, categorical_features=given).fit(frame[["word", "size"]], y)
        for given in (["word"], [0])
    )
    assert_array_equal(by_name.predict(frame[["word", "size"]]), by_number.predict(frame[["word", "size"]]))
    planewise.save(model, tmp_path / "model")
    unseen = frame.assign(word=pd.Categorical(["e", "a", "b"] * 100))
    assert_array_equal(planewise.load(tmp_path / "model").predict(unseen), model.predict(unseen))


def test_the_order_in_which_categories_are_numbered_does_not_matter():
    frame, y = words_and_numbers()
    again = frame.assign(word=frame["word"].cat.reorder_categories(list("dbca")))
    model = regressor(warm_start=True).fit(frame, y, X_val=again, y_val=y)
    assert_array_equal(model.predict(again), model.predict(frame))
    continued = model.set_params(n_estimators=8).fit(again, y, X_val=frame, y_val=y)
    assert_allclose(continued.predict(frame), regressor(n_estimators=8).fit(frame, y).predict(frame), rtol=1e-6)


def test_categories_and_indicator_columns_say_the_same():
    frame, y = words_and_numbers()
    codes = frame["word"].cat.codes.to_numpy()[:, None].astype(float)
    sets = regressor(n_estimators=40, categorical_features=[0]).fit(codes, y)
    indicators = regressor(n_estimators=40).fit(np.eye(4)[codes[:, 0].astype(int)], y)
    assert_allclose(sets.predict(codes), indicators.predict(np.eye(4)[codes[:, 0].astype(int)]), atol=0.1)
