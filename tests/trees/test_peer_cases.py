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
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_linnerud,
    make_multilabel_classification,
)
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import planewise
from planewise import SLMBoostClassifier, SLMBoostRegressor, SLMForestClassifier, SLMForestRegressor
from planewise.data.problem import thread_count
from planewise.plot import TreeDisplay

ROOT = Path(__file__).parents[2]


def squared_error(y, score):
    return score - y, np.ones_like(score)


def logistic(y, score):
    p = expit(score)
    return p - y, p * (1 - p)


def multinomial(y, score):
    p = softmax(score, axis=1)
    return p - np.eye(score.shape[1])[y.astype(int)], 2 * p * (1 - p)  # twice, as in XGBoost


# ---------------------------------------------------------------------------------- quality, history and early stopping
def mean_loss(model, X, y):
    return log_loss(y, model.predict_proba(X)) if is_classifier(model) else mean_squared_error(y, model.predict(X))


@pytest.mark.parametrize(
    ("data", "make", "bound"),
    [
        (CANCER, classifier, 0.15),
        (NUMBERS, regressor, 4500),
        (load_digits(n_class=4, return_X_y=True), classifier, 0.2),
    ],
    ids=["two classes", "numbers", "four classes"],
)
def test_early_stopping_keeps_the_best_round_and_its_loss_is_that_of_the_predictions(data, make, bound):
    X, y, X_val, y_val = halves(data)
    model = make(n_estimators=60, early_stopping=True, n_iter_no_change=5).fit(X, y, X_val=X_val, y_val=y_val)
    losses = -model.validation_score_
    assert losses[model.best_iteration_ - 1] == min(losses) == pytest.approx(mean_loss(model, X_val, y_val))
    assert min(losses) < bound
    assert model.n_iter_ == model.best_iteration_


def test_the_best_round_is_the_last_while_the_loss_falls():
    X, y = IRIS
    model = classifier(n_estimators=4, early_stopping=True, n_iter_no_change=3).fit(X, y, X_val=X, y_val=y)
    assert model.best_iteration_ == 4


def test_training_and_validation_rows_have_a_history_each():
    X, y, X_val, y_val = halves(NUMBERS)
    model = regressor().fit(X, y, X_val=X_val, y_val=y_val)
    assert len(model.train_score_) == len(model.validation_score_) == 5


@pytest.mark.parametrize("make", [SLMBoostClassifier, SLMForestClassifier])
def test_two_classes_are_learned(make):
    X, y, X_test, y_test = halves(load_digits(n_class=2, return_X_y=True))
    model = make(n_estimators=20, random_state=0).fit(X, y)
    assert accuracy_score(y_test, model.predict(X_test)) > 0.95


@pytest.mark.parametrize("make", [SLMBoostRegressor, SLMForestRegressor])
def test_numbers_are_learned(make):
    X, y, X_test, y_test = halves(NUMBERS)
    model = make(n_estimators=30, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.3
    assert not hasattr(model, "feature_names_in_")


def test_a_validation_set_needs_rows_and_targets():
    X, y = NUMBERS
    for given in ({"X_val": X}, {"y_val": y}):
        with pytest.raises(ValueError, match="X_val and y_val go together"):
            regressor().fit(X, y, **given)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        regressor().fit(X, y, X_val=X, y_val=y[:3])
    with pytest.raises(ValueError, match="y_val has the class 7, which no training row has"):
        classifier().fit(*IRIS, X_val=IRIS[0][:3], y_val=[7, 0, 1])


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
def test_clones_have_the_parameters_and_are_not_fitted():
    model = regressor(n_estimators=3).fit(*NUMBERS)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError, match="This SLMBoostRegressor instance is not fitted yet"):
        check_is_fitted(copy)
    check_is_fitted(model)
    model.n_jobs = 2
    assert clone(model).n_jobs == 2


def test_classifier_and_regressor_have_the_same_defaults():
    names = [inspect.signature(each).parameters for each in (SLMBoostClassifier, SLMBoostRegressor)]
    shared = set(names[0]) & set(names[1])
    different = {name for name in shared if names[0][name].default != names[1][name].default}
    assert not different
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in names[0].values())
    assert names[0]["verbose"].default == names[1]["verbose"].default == 0


def test_unknown_parameters_are_refused_by_name():
    with pytest.raises(TypeError, match="unexpected keyword argument 'eta'"):
        SLMBoostClassifier(eta=0.1)
    with pytest.raises(TypeError, match="positional argument"):
        SLMBoostRegressor(3)
    with pytest.raises(ValueError, match="Invalid parameter 'eta'"):
        GridSearchCV(classifier(), {"eta": [0.1]}, cv=2, error_score="raise").fit(*IRIS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'boosting_type'"):
        SLMBoostRegressor(boosting_type="dart")


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


def test_kinds_and_tags():
    assert is_classifier(SLMBoostClassifier()) and is_classifier(SLMForestClassifier())
    assert is_regressor(SLMBoostRegressor()) and is_regressor(SLMForestRegressor())
    for model in (SLMBoostClassifier(), SLMBoostRegressor(), SLMForestClassifier(), SLMForestRegressor()):
        tags = model.__sklearn_tags__()
        assert tags.input_tags.allow_nan
        assert not tags.non_deterministic
        assert tags.target_tags.required
    assert SLMBoostClassifier().__sklearn_tags__().classifier_tags.multi_class
    assert not SLMBoostRegressor().__sklearn_tags__().target_tags.multi_output


# --------------------------------------------------------------------------------------------- importances and pictures
def test_importances_by_kind():
    model = classifier().fit(*IRIS)
    for kind in ("gain", "split", "cover"):
        assert model.get_feature_importances(kind).sum() == pytest.approx(1)
    assert_array_equal(model.feature_importances_, model.get_feature_importances("gain"))
    assert not np.allclose(model.get_feature_importances("gain"), model.get_feature_importances("split"))
    with pytest.raises(ValueError, match="kind must be 'gain', 'split' or 'cover'; got 'weight'"):
        model.get_feature_importances("weight")
    frame = load_iris(as_frame=True).data
    assert_array_equal(classifier().fit(frame, IRIS[1]).feature_importances_, model.feature_importances_)


def test_a_model_without_splits_has_importances_of_zero():
    assert_array_equal(classifier(min_child_weight=1e6).fit(*IRIS).feature_importances_, np.zeros(4))


def test_a_tree_of_an_ensemble_is_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert TreeDisplay.from_estimator(classifier().fit(*IRIS), tree=0).plot().figure_ is not None


# ---------------------------------------------------------------------------------------------------------- predictions
def test_scores_leaves_and_contributions_beside_predictions():
    X, y = IRIS
    model, forest = classifier().fit(X, y), SLMForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    score = model.decision_function(X)
    assert_array_equal(model.classes_[score.argmax(axis=1)], model.predict(X))
    assert_allclose(softmax(score, axis=1), model.predict_proba(X))
    assert_allclose(model.predict_contributions(X).sum(axis=-1), score, atol=1e-9)
    assert forest.apply(X).shape == (150, 5)
    assert forest.apply(X).dtype == np.int32
    assert model.predict_contributions(X).dtype == score.dtype == np.float64


def test_predictions_after_every_round():
    X, y = NUMBERS
    stages = list(regressor().fit(X, y).staged_predict(X))
    assert len(stages) == 5
    for rounds in (1, 3):
        assert_allclose(stages[rounds - 1], regressor(n_estimators=rounds).fit(X, y).predict(X), rtol=1e-6)


def test_equal_targets_are_predicted():
    model = regressor().fit([[1, 2, 3], [1, 2, 3]], [1.0, 1.0])
    assert model.forest_.n_planes == 0
    assert_array_equal(model.predict([[10, 20, 30]]), [1.0])


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


def test_files_keep_all_parameters(tmp_path):
    X, y = IRIS
    model = classifier(subsample=0.5, n_jobs=2).fit(X, y)
    planewise.save(model, tmp_path / "model")
    again = planewise.load(tmp_path / "model")
    assert type(again) is SLMBoostClassifier
    assert again.get_params() == model.get_params()
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


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


@pytest.mark.parametrize("make", [classifier, regressor])
def test_a_column_vector_as_target_warns(make):
    X, y = IRIS
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = make().fit(pd.DataFrame(X), y.reshape(-1, 1))
    assert_array_equal(model.predict(X), make().fit(X, y).predict(X))


def test_names_and_numbers_of_columns():
    frame = load_iris(as_frame=True).data
    model = classifier().fit(frame, IRIS[1])
    assert_array_equal(model.feature_names_in_, frame.columns)
    assert not hasattr(classifier().fit(*IRIS), "feature_names_in_")
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- z"):
        model.predict(frame.rename(columns={frame.columns[1]: "z"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[frame.columns[::-1]])
    model = classifier().fit(*IRIS)
    for ask in (model.predict, model.predict_proba, model.decision_function, model.predict_contributions):
        with pytest.raises(ValueError, match="X has 3 features, but SLMBoostClassifier is expecting 4 features"):
            ask(IRIS[0][:, :3])


def test_missing_tables_targets_and_columns_are_refused():
    X, y = IRIS
    for make in (classifier, regressor):
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            make().fit(X, None)
        with pytest.raises(ValueError, match="Expected 2D array"):
            make().fit(None, y)
    with pytest.raises(ValueError, match="2-dimensional container"):
        classifier().fit(pd.Series(X[:, 0]), y)
    with pytest.raises(ValueError, match="Input y contains infinity"):
        regressor().fit(X, np.full(150, np.inf))


def test_several_labels_per_row_are_refused():
    X, y = make_multilabel_classification(40, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape \(40, 3\)"):
        classifier().fit(X, y)


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
