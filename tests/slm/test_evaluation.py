"""Evaluation sets and metrics of boosting, and the first rounds of a model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import f1_score, get_scorer, log_loss, make_scorer, mean_absolute_error, mean_pinball_loss

import planewise
from planewise import SLMBoostClassifier, SLMBoostRegressor, SLMForestClassifier

QUICK = {"n_estimators": 8, "random_state": 0}
BOTH = pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor])


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def own_squared(target, score):
    return score - target, np.ones_like(score)


def share_wrong(y_true, y_pred):
    return "share_wrong", np.mean((y_pred > 0.5) != (y_true == 1)), False


# ------------------------------------------------------------------------------------------------ several sets
@settings(max_examples=8)
@given(seed=st.integers(0, 1000), loss=st.sampled_from(["squared_error", "absolute_error", "quantile"]))
def test_every_set_has_the_losses_of_its_rows(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    weight, offset = rng.uniform(size=200), rng.normal(size=200)
    a, b, c = slice(0, 100), slice(100, 150), slice(150, 200)
    model = SLMBoostRegressor(loss=loss, **QUICK).fit(
        X[a], y[a], weight[a], offset=offset[a],
        X_val=X[b], y_val=y[b], sample_weight_val=weight[b], offset_val=offset[b],
        eval_sets={
            "later": (X[c], y[c], weight[c], offset[c]),
            "plain": (X[c], y[c]),
            "weighted": (X[c], y[c], weight[c]),
        },
    )  # fmt: skip

    def losses(rows, weights, offsets):
        measure = {
            "squared_error": lambda p: np.average((p - y[rows]) ** 2, weights=weights),
            "absolute_error": lambda p: np.average(np.abs(p - y[rows]), weights=weights),
            "quantile": lambda p: mean_pinball_loss(y[rows], p, alpha=0.9, sample_weight=weights),
        }[loss]
        return [measure(stage) for stage in model.staged_predict(X[rows], offset=offsets)]

    assert list(model.evals_result_) == ["train", "validation", "later", "plain", "weighted"]
    assert_allclose(model.evals_result_["train"], losses(a, weight[a], offset[a]))
    assert_allclose(model.evals_result_["validation"], losses(b, weight[b], offset[b]))
    assert_allclose(model.evals_result_["later"], losses(c, weight[c], offset[c]))
    assert_allclose(model.evals_result_["plain"], losses(c, None, None))
    assert_allclose(model.evals_result_["weighted"], losses(c, weight[c], None))


def test_sets_beside_the_validation_rows_never_stop_or_change_a_fit():
    X, y, X_val, y_val = cancer()
    stops = {"early_stopping": True, "n_estimators": 60, "n_iter_no_change": 3, "random_state": 0}
    alone = SLMBoostClassifier(**stops).fit(X, y, X_val=X_val, y_val=y_val)
    watched = SLMBoostClassifier(**stops).fit(
        X, y, X_val=X_val, y_val=y_val, eval_sets={"odd": (X_val, 1 - y_val), "again": (X_val, y_val)}
    )
    assert watched.n_iter_ == alone.n_iter_
    assert watched.evals_result_["again"] == watched.evals_result_["validation"] == alone.evals_result_["validation"]
    assert_array_equal(watched.predict_proba(X), alone.predict_proba(X))
    by_share = SLMBoostClassifier(**stops).fit(X, y, eval_sets={"test": (X_val, y_val)})
    assert list(by_share.evals_result_) == ["train", "validation", "test"]


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ([("a", 1)], "eval_sets must be a dict from names to .*; got a list"),
        ({"a": "rows"}, "the entry of 'a' is something else"),
        ({"a": (1,)}, "the entry of 'a' is something else"),
        ({"train": (0, 0)}, "eval_sets has the name 'train'"),
        ({"validation": (0, 0)}, "eval_sets has the name 'validation'"),
        ({3: (0, 0)}, "eval_sets has the name 3; names must be strings other than"),
    ],
)
def test_sets_of_another_form_are_refused(sets, words):
    X, y, *_ = cancer()
    with pytest.raises(ValueError, match=words):
        SLMBoostClassifier(**QUICK).fit(X, y, eval_sets=sets)


def test_wrong_rows_of_a_set_are_refused_by_its_name():
    X, y, *_ = cancer()
    model = SLMBoostClassifier(**QUICK)
    with pytest.raises(ValueError, match=r"eval_sets\['a'\] has the class 6"):
        model.fit(X, y, eval_sets={"a": (X, y + 6)})
    with pytest.raises(ValueError, match=r"eval_sets\['a'\]: "):
        model.fit(X, y, eval_sets={"a": (X, y, np.zeros(len(y)))})
    with pytest.raises(ValueError, match="sample_weight_val: "):
        model.fit(X, y, X_val=X, y_val=y, sample_weight_val=-np.ones(len(y)))
    with pytest.raises(ValueError, match="sample_weight_val needs X_val and y_val"):
        model.fit(X, y, sample_weight_val=np.ones(len(y)))
    with pytest.raises(ValueError, match=r"eval_sets\['a'\] has shape"):
        model.fit(X, y, eval_sets={"a": (X, y, None, np.zeros(2))})
    with pytest.raises(ValueError, match=r"eval_sets\['a'\]: X has 3 features"):
        model.fit(X, y, eval_sets={"a": (X[:, :3], y)})
    with pytest.raises(ValueError, match="y_val: Found input variables with inconsistent numbers of samples"):
        model.fit(X, y, X_val=X, y_val=y[:5])
    assert not hasattr(model, "forest_")


def test_class_weights_count_in_rows_set_aside_and_not_in_given_ones():
    X, y, X_val, y_val = cancer()
    heavy = SLMBoostClassifier(class_weight={0: 5.0, 1: 1.0}, **QUICK).fit(X, y, X_val=X_val, y_val=y_val)
    assert heavy.evals_result_["validation"][-1] == pytest.approx(log_loss(y_val, heavy.predict_proba(X_val)))
    weights = {"train": np.where(y == 0, 5.0, 1.0)}
    assert heavy.evals_result_["train"][-1] == pytest.approx(
        log_loss(y, heavy.predict_proba(X), sample_weight=weights["train"])
    )


# ----------------------------------------------------------------------------------------------------- metrics
@pytest.mark.parametrize("name", ["roc_auc", "accuracy", "neg_log_loss", "f1", "average_precision"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_scorer_is_what_it_says_of_the_first_rounds(name, weighted):
    X, y, X_val, y_val = cancer()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y_val)) if weighted else None
    model = SLMBoostClassifier(eval_metric=name, **QUICK)
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    scorer = get_scorer(name)
    extra = {"sample_weight": weight} if weighted else {}

    class FirstRounds(SLMBoostClassifier):
        def predict_proba(self, X):
            return model.predict_proba(X, n_rounds=self.rounds)

        def predict(self, X):
            return model.predict(X, n_rounds=self.rounds)

        def decision_function(self, X):
            return model.decision_function(X, n_rounds=self.rounds)

    for rounds, value in enumerate(model.evals_result_[f"validation {name}"], start=1):
        part = FirstRounds()
        part.classes_, part.rounds = model.classes_, rounds
        assert value == pytest.approx(scorer(part, X_val, y_val, **extra))
    assert len(model.evals_result_[f"train {name}"]) == 8


def test_functions_get_encoded_classes():
    X, y, X_val, y_val = cancer()
    names, seen = np.array(["no", "yes"]), []

    def noted(y_true, y_pred):
        seen.append(y_true)
        return share_wrong(y_true, y_pred)

    by_number = SLMBoostClassifier(eval_metric=share_wrong, **QUICK).fit(X, y, X_val=X_val, y_val=y_val)
    by_name = SLMBoostClassifier(eval_metric=noted, **QUICK).fit(X, names[y], X_val=X_val, y_val=names[y_val])
    assert by_name.evals_result_ == by_number.evals_result_
    assert seen[0].dtype.kind == "i"
    assert_array_equal(seen[1], y_val)


def test_labels_reach_scorers_as_given():
    X, y, X_val, y_val = cancer()
    names = np.array(["bad", "good"])
    metric = make_scorer(f1_score, pos_label="bad")
    model = SLMBoostClassifier(eval_metric=[metric, "accuracy"], **QUICK)
    model.fit(X, names[y], X_val=X_val, y_val=names[y_val])
    assert list(model.evals_result_) == [
        "train", "train f1_score", "train accuracy", "validation", "validation f1_score", "validation accuracy"
    ]  # fmt: skip
    expected = f1_score(names[y_val], model.predict(X_val), pos_label="bad")
    assert model.evals_result_["validation f1_score"][-1] == pytest.approx(expected)
    assert model.best_iteration_ == np.argmax(model.evals_result_["validation f1_score"]) + 1


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_functions_get_probabilities_of_all_classes_and_weights(strategy):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(size=150)

    def weighted_log_loss(y_true, y_pred, weight):
        return "own", log_loss(y_true, y_pred, sample_weight=weight), False

    model = SLMBoostClassifier(eval_metric=weighted_log_loss, multi_strategy=strategy, **QUICK)
    model.fit(X, y, eval_sets={"weighted": (X, y, weight), "plain": (X, y)})
    for name in ("train", "weighted", "plain"):
        assert_allclose(model.evals_result_[f"{name} own"], model.evals_result_[name])


def test_functions_get_predictions_of_a_regressor():
    X, y = load_diabetes(return_X_y=True)

    def two(y_true, y_pred):
        error = mean_absolute_error(y_true, y_pred)
        return [("mae", error, False), ("minus mae", -error, True)]

    model = SLMBoostRegressor(loss="poisson", eval_metric=[two, "neg_mean_absolute_error"], **QUICK)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    errors = [mean_absolute_error(y[300:], stage) for stage in model.staged_predict(X[300:])]
    assert_allclose(model.evals_result_["validation mae"], errors)
    assert_allclose(model.evals_result_["validation minus mae"], np.negative(errors))
    assert_allclose(model.evals_result_["validation neg_mean_absolute_error"], np.negative(errors))
    assert model.best_iteration_ == np.argmin(errors) + 1


def test_metrics_of_several_targets_and_quantiles_see_all_of_them():
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, -y])
    model = SLMBoostRegressor(eval_metric="neg_mean_squared_error", **QUICK).fit(X, both, eval_sets={"all": (X, both)})
    assert_allclose(np.negative(model.evals_result_["all neg_mean_squared_error"]), model.evals_result_["all"])

    def width(y_true, y_pred):
        assert y_true.shape == (442,)
        return "width", np.mean(y_pred[:, 1] - y_pred[:, 0]), False

    levels = SLMBoostRegressor(loss="quantile", alpha=[0.1, 0.9], eval_metric=width, **QUICK).fit(X, y)
    found = [np.mean(np.diff(stage, axis=1)) for stage in levels.staged_predict(X)]
    assert_allclose(levels.evals_result_["train width"], found)
    assert levels.apply(X).shape == (442, 16)


@pytest.mark.parametrize("greater_is_better", [False, True])
def test_the_first_metric_decides_when_to_stop(greater_is_better):
    """By hand: values that are set beforehand, of which the best is the fifth."""
    X, y, X_val, y_val = cancer()
    values = iter([9, 7, 8, 6, 3, 5, 4, 3, 3.5, 2, 1])

    def planned(y_true, y_pred):
        if len(y_true) != len(y_val) or (y_true != y_val).any():
            return "planned", 0.0, greater_is_better
        value = next(values)
        return "planned", -value if greater_is_better else value, greater_is_better

    model = SLMBoostClassifier(n_estimators=50, early_stopping=True, n_iter_no_change=4, random_state=0)
    model.set_params(eval_metric=[planned, "roc_auc"]).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ == model.best_iteration_ == 5
    assert len(model.evals_result_["validation planned"]) == 9


def test_a_tolerance_applies_to_metrics():
    X, y, X_val, y_val = cancer()
    patient = SLMBoostClassifier(n_estimators=50, early_stopping=True, n_iter_no_change=3, eval_metric="roc_auc")
    impatient = SLMBoostClassifier(**patient.get_params()).set_params(tol=1.0)
    impatient.fit(X, y, X_val=X_val, y_val=y_val)
    assert len(impatient.evals_result_["validation roc_auc"]) == 4


@pytest.mark.parametrize("refit", [False, True])
def test_a_metric_can_stop_a_loss_of_ones_own(refit):
    X, y = load_diabetes(return_X_y=True)
    stops = {"early_stopping": True, "n_estimators": 60, "n_iter_no_change": 3, "random_state": 0, "refit": refit}
    metric = {"eval_metric": "neg_mean_squared_error"}
    own = SLMBoostRegressor(loss=own_squared, learning_rate=0.5, **metric, **stops).fit(X, y)
    losses = np.negative(own.evals_result_["validation neg_mean_squared_error"])
    assert own.n_iter_ == np.argmin(losses) + 1 == len(losses) - 3
    assert set(own.evals_result_) == {"train neg_mean_squared_error", "validation neg_mean_squared_error"}
    built_in = SLMBoostRegressor(base_score=0, learning_rate=0.5, **stops).fit(X, y)
    assert own.n_iter_ == built_in.n_iter_
    assert_allclose(losses, built_in.evals_result_["validation"])
    assert_allclose(own.predict(X), built_in.predict(X), rtol=1e-6)


def test_without_other_rows_metrics_are_of_the_training_rows():
    X, y, *_ = cancer()
    model = SLMBoostClassifier(eval_metric="accuracy", **QUICK).fit(X, y)
    assert list(model.evals_result_) == ["train", "train accuracy"]
    assert model.evals_result_["train accuracy"][-1] == model.score(X, y)
    assert model.best_iteration_ is None
    plain = SLMBoostClassifier(**QUICK).fit(X, y)
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_callbacks_and_the_progress_line_hear_of_metrics(capfd):
    X, y, X_val, y_val = cancer()
    heard = []
    model = SLMBoostClassifier(
        eval_metric="roc_auc", verbose=1, callbacks=[lambda *given: heard.append(given)], **QUICK
    )
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert heard[2][1] == {name: values[2] for name, values in model.evals_result_.items()}
    assert f"validation roc_auc {model.evals_result_['validation roc_auc'][-1]:.5g}" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("auc", "eval_metric='auc' is not the name of a scikit-learn scorer"),
        (lambda y, p: 1 / 0, "eval_metric '<lambda>' failed on the rows of 'train': division by zero"),
        (lambda y, p: 0.5, "does not say whether greater is better"),
        (mean_absolute_error, "eval_metric 'mean_absolute_error' failed .* pass sklearn.metrics.make_scorer"),
        (lambda y, p: ("a", "much", True), "its value must be a number, but is a str"),
        (lambda y, p: ("a", np.nan, True), "eval_metric 'a' is NaN on the rows of 'train'"),
        (lambda y, p: ("a", 1.0), r"it must return \(name, value, is_higher_better\)"),
        (["r2", "r2"], "two metrics called 'r2'"),
        (lambda y, p: [], "eval_metric '<lambda>' failed .* it returned an empty list"),
        (max, "eval_metric 'max' does not say which parameters it has"),
        (lambda estimator, X, y: 0.5, "is a function of an estimator or of X. Pass a scorer from sklearn.metrics.make"),
        (SLMBoostRegressor().score, "eval_metric 'score' is a function of an estimator or of X"),
        ("neg_mean_squared_log_error", "eval_metric 'neg_mean_squared_log_error' failed on the rows of 'train'"),
        ([], "The parameter 'eval_metric' of SLMBoostRegressor must be the name of a scikit-learn scorer"),
        (3, "The parameter 'eval_metric' of SLMBoostRegressor must be"),
    ],
)
def test_wrong_metrics_are_refused_by_name(metric, words):
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(eval_metric=metric, **QUICK)
    with pytest.raises(ValueError, match=words):
        model.fit(X, -y)
    assert not hasattr(model, "forest_")


def test_weights_go_to_parameters_that_are_meant_for_them():
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(1, 2, len(y))
    got = []

    def with_option(y_true, y_pred, beta=2):
        got.append(beta)
        return "option", 0.0, True

    def by_place(y_true, y_pred, w):
        got.append(w)
        return "place", 0.0, True

    def by_default(y_true, y_pred, sample_weight=None):
        got.append(sample_weight)
        return "default", 0.0, True

    def by_name(y_true, y_pred, beta=2, *, weight=None):
        got.append(weight)
        return "name", 0.0, True

    metrics = [with_option, by_place, by_default, by_name]
    SLMBoostRegressor(n_estimators=1, eval_metric=metrics).fit(X, y, weight)
    assert got[0] == 2
    for each in got[1:]:
        assert_array_equal(each, weight)


def test_scorers_that_cannot_be_used_say_what_can():
    X, y, *_ = cancer()
    model = SLMBoostClassifier(eval_metric="f1", **QUICK)
    with pytest.raises(ValueError, match=r"pos_label=1 .*make_scorer\(f1_score, pos_label=\.\.\.\)"):
        model.fit(X, np.array(["no", "yes"])[y])
    levels = SLMBoostRegressor(loss="quantile", alpha=[0.1, 0.9], eval_metric="r2", **QUICK)
    with pytest.raises(ValueError, match=r"'r2' is a scorer, which needs one prediction .* \(n_samples, n_levels\)"):
        levels.fit(X, y)


def test_names_that_would_mix_sets_and_metrics_are_refused():
    X, y, *_ = cancer()
    model = SLMBoostClassifier(n_estimators=1, warm_start=True, random_state=0).fit(X, y)
    for name, other in (("train 2020", "train"), ("validation accuracy", "validation"), ("a b", "a")):
        for each in (SLMBoostClassifier(**QUICK), model):  # the second grows no further round
            with pytest.raises(ValueError, match=f"{name!r}, which begins with that of another set, {other!r}"):
                each.fit(X, y, eval_sets={name: (X, y), "a": (X, y)})
    SLMBoostClassifier(**QUICK).fit(X, y, eval_sets={"training": (X, y), "a": (X, y), "ab": (X, y)})


def test_names_of_metrics_stay_the_same():
    X, y, *_ = cancer()
    names = iter("aab")
    model = SLMBoostClassifier(eval_metric=lambda y_true, y_pred: (next(names), 0.0, True), **QUICK)
    with pytest.raises(
        ValueError, match=r"eval_metric returned the names \['b'\] for the rows of 'train', but \['a'\]"
    ):
        model.fit(X, y)


def test_files_keep_histories_and_names_of_metrics(tmp_path):
    X, y, X_val, y_val = cancer()
    model = SLMBoostClassifier(eval_metric=["roc_auc", "accuracy"], **QUICK).fit(
        X, y, eval_sets={"a b": (X_val, y_val)}
    )
    planewise.save(model, tmp_path / "model")
    again = planewise.load(tmp_path / "model")
    assert again.evals_result_ == model.evals_result_
    assert again.eval_metric == ["roc_auc", "accuracy"]
    with pytest.raises(ValueError, match="eval_metric"):
        planewise.save(model.set_params(eval_metric=share_wrong), tmp_path / "model")


# --------------------------------------------------------------------------------- the first rounds, and leaves
@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_the_first_rounds_are_the_stages(strategy):
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(multi_strategy=strategy, **QUICK).fit(X, y)
    stages = zip(model.staged_predict(X), model.staged_predict_proba(X), strict=True)
    for n_rounds, (labels, probabilities) in enumerate(stages, start=1):
        assert_array_equal(model.predict(X, n_rounds=n_rounds), labels)
        assert_array_equal(model.predict_proba(X, n_rounds=n_rounds), probabilities)
        scores = model.decision_function(X, n_rounds=n_rounds)
        assert_allclose(model.predict_contributions(X, n_rounds=n_rounds).sum(axis=2), scores, atol=1e-9)
    assert_array_equal(scores, model.decision_function(X))


def test_the_first_rounds_of_a_regressor_are_the_stages():
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(loss="poisson", **QUICK).fit(X, y)
    for n_rounds, stage in enumerate(model.staged_predict(X), start=1):
        assert_array_equal(model.predict(X, n_rounds=n_rounds), stage)


@BOTH
@pytest.mark.parametrize("n_rounds", [0, 9, -1, 2.0, True, "all"])
def test_rounds_that_are_not_there_are_refused(make, n_rounds):
    X, y, *_ = cancer()
    model = make(**QUICK).fit(X, y)
    for method in (model.predict, model.apply, model.predict_contributions):
        with pytest.raises(ValueError, match="n_rounds must be an integer from 1 to n_iter_, 8; got"):
            method(X, n_rounds=n_rounds)


def test_one_class_has_no_rounds():
    X, y, *_ = cancer()
    model = SLMBoostClassifier(eval_metric="accuracy", **QUICK).fit(X, 0 * y, eval_sets={"a": (X, 0 * y)})
    assert model.apply(X).shape == (len(X), 0)
    assert model.evals_result_ == {}
    with pytest.raises(ValueError, match="n_rounds must be None here: the model knows one class"):
        model.predict(X, n_rounds=1)


@pytest.mark.parametrize(
    ("parameters", "given", "words"),
    [
        ({"eval_metric": "nonsense"}, {}, "eval_metric='nonsense' is not the name"),
        ({"eval_metric": max}, {}, "eval_metric 'max' does not say"),
        ({"monotonic_cst": [1, 0]}, {}, "monotonic_cst"),
        ({"interaction_cst": [[0, 99]]}, {}, "interaction_cst"),
        ({}, {"X_val": np.zeros((2, 3)), "y_val": [0, 0]}, "X_val: X has 3 features"),
        ({}, {"eval_sets": {"a": (np.zeros((2, 30)), [0, 7])}}, r"eval_sets\['a'\] has the class 7"),
        ({}, {"eval_sets": {"a": (np.zeros((2, 30)), [0, 0], [-1, 1])}}, r"eval_sets\['a'\]: "),
    ],
)
def test_one_class_is_checked_as_two_are(parameters, given, words):
    X, y, *_ = cancer()
    for target in (y, 0 * y):
        model = SLMBoostClassifier(**QUICK | parameters)
        with pytest.raises(ValueError, match=words):
            model.fit(X, target, **given)
        assert not hasattr(model, "forest_")


@pytest.mark.parametrize(("make", "y"), [(SLMBoostClassifier, [0, 1, 1, 1, 1, 1]), (SLMBoostRegressor, [0.5])])
def test_too_few_rows_to_set_aside_are_refused_by_name(make, y):
    X = np.arange(len(y), dtype=float)[:, None]
    with pytest.raises(ValueError, match=r"early_stopping=True cannot set aside validation_fraction=0\.1 .*Pass X_val"):
        make(early_stopping=True).fit(X, y)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
@pytest.mark.parametrize("n_rounds", [None, 3])
def test_the_values_of_the_leaves_add_up_to_the_score(strategy, n_rounds):
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(multi_strategy=strategy, **QUICK).fit(X, y)
    nodes, forest = model.apply(X, n_rounds=n_rounds), model.forest_
    assert nodes.shape == (150, (n_rounds or 8) * (1 if strategy == "multi_output_tree" else 3))
    score = np.tile(model.base_score_, (150, 1))
    for tree, places in enumerate(nodes.T):
        value = forest.value[forest.node_start[tree] + places]
        if value.shape[1] == 3:
            score += value
        else:
            score[:, tree % 3] += value[:, 0]
    assert_allclose(score, model.decision_function(X, n_rounds=n_rounds))


def test_the_leaves_of_a_forest_have_its_probabilities():
    X, y, *_ = cancer()
    forest = SLMForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    nodes = forest.apply(X)
    values = forest.forest_.value[forest.forest_.node_start[:-1] + nodes][:, :, 0]
    assert_allclose(values.mean(axis=1), forest.predict_proba(X)[:, 1], rtol=1e-6)
