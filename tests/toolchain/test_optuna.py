"""Trials of Optuna stop after a few rounds when they are pruned, and are unchanged when they are not."""

from __future__ import annotations

import sys

import numpy as np
import optuna
import pytest
from examples_to_fit import numbers
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from planewise import SLMBoostClassifier, SLMBoostRanker, SLMBoostRegressor
from planewise.tools import OptunaPruning

optuna.logging.set_verbosity(optuna.logging.WARNING)
ROUNDS = 30


def data():
    X, classes, target = numbers()
    return X, classes, target


def fit(model, **options):
    """A fit to the first hundred rows, with the others to validate on."""
    X, classes, target = data()
    y = classes if isinstance(model, SLMBoostClassifier) else target
    given = {"X_val": X[100:], "y_val": y[100:]}
    if isinstance(model, SLMBoostRanker):
        y = (target > 8).astype(int)
        given = {"qid": np.arange(100) // 10, "X_val": X[100:], "y_val": y[100:], "qid_val": np.arange(50) // 10}
    return model.fit(X[:100], y[:100], **given, **options)


MODELS = {
    "classes": SLMBoostClassifier(n_estimators=ROUNDS, random_state=0),
    "numbers": SLMBoostRegressor(n_estimators=ROUNDS, random_state=0),
    "ranking": SLMBoostRanker(n_estimators=ROUNDS, random_state=0),
}


def study_of(rates, model, storage=None, **options):
    """A study that tries these learning rates in this order; a later trial is pruned where it is worse so far."""
    pruner = optuna.pruners.MedianPruner(n_startup_trials=1, n_warmup_steps=3)
    study = optuna.create_study(pruner=pruner, storage=storage)
    for rate in rates:
        study.enqueue_trial({"learning_rate": rate})
    fitted = []

    def objective(trial):
        rate = trial.suggest_float("learning_rate", 1e-4, 1.0)
        made = clone(model).set_params(learning_rate=rate, callbacks=[OptunaPruning(trial, **options)])
        fitted.append(fit(made))
        return -made.validation_score_[-1]

    study.optimize(objective, n_trials=len(rates))
    return study, fitted


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_a_bad_trial_ends_early_and_a_good_one_is_the_model_without_the_callback(name):
    study, fitted = study_of([0.3, 1e-4], MODELS[name])
    good, bad = study.trials
    assert good.state == optuna.trial.TrialState.COMPLETE
    assert list(good.intermediate_values) == list(range(1, ROUNDS + 1))
    assert bad.state == optuna.trial.TrialState.PRUNED
    assert list(bad.intermediate_values) == [1, 2, 3]  # the pruner looks from the third round on
    (model,) = fitted
    alone = fit(clone(MODELS[name]).set_params(learning_rate=0.3))
    np.testing.assert_array_equal(model.predict(data()[0]), alone.predict(data()[0]))
    assert list(good.intermediate_values.values()) == (-alone.validation_score_).tolist()


def test_a_ranker_is_pruned():
    trial = optuna.create_study(pruner=optuna.pruners.ThresholdPruner(upper=-1.0, n_warmup_steps=3)).ask()
    model = clone(MODELS["ranking"]).set_params(callbacks=[OptunaPruning(trial)])
    with pytest.raises(optuna.TrialPruned, match=r"^Pruned after round 3: validation "):
        fit(model)
    assert not hasattr(model, "forest_")


def test_reports_go_to_a_database_only_every_few_rounds(tmp_path):
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study, _ = study_of([0.3, 1e-4], MODELS["classes"], storage=storage, every=10)
    assert [list(trial.intermediate_values) for trial in study.trials] == [[10, 20, 30], [10]]
    study._storage.remove_session()


def test_a_score_that_is_maximized():
    pruner = optuna.pruners.MedianPruner(n_startup_trials=1, n_warmup_steps=3)
    study = optuna.create_study(direction="maximize", pruner=pruner)
    for rate in (0.1, 1e-4):
        study.enqueue_trial({"learning_rate": rate})

    def objective(trial):
        model = clone(MODELS["classes"]).set_params(
            learning_rate=trial.suggest_float("learning_rate", 1e-4, 1.0),
            scoring="roc_auc",
            callbacks=[OptunaPruning(trial)],
        )
        return fit(model).validation_score_[-1]

    study.optimize(objective, n_trials=2)
    good, bad = study.trials
    assert good.intermediate_values[ROUNDS] == good.value == study.best_value > 0.9
    assert bad.state == optuna.trial.TrialState.PRUNED


def test_rows_set_aside_by_early_stopping_are_reported():
    trial = optuna.create_study().ask()
    X, y, _ = data()
    SLMBoostClassifier(n_estimators=5, early_stopping=True, callbacks=[OptunaPruning(trial)], random_state=0).fit(X, y)
    assert len(trial.study.trials[0].intermediate_values) == 5


@pytest.mark.filterwarnings("ignore:The reported value is ignored")  # every fold reports the same rounds
def test_a_copy_of_the_model_reports_to_the_same_trial():
    trial = optuna.create_study(storage="sqlite:///:memory:").ask()
    X, y, _ = data()
    model = SLMBoostClassifier(n_estimators=4, early_stopping=True, callbacks=[OptunaPruning(trial)], random_state=0)
    assert clone(model).callbacks[0] is model.callbacks[0]
    GridSearchCV(model, {"max_depth": [1]}, cv=2, error_score="raise").fit(X, y)
    assert list(trial.study.trials[0].intermediate_values) == [1, 2, 3, 4]


def test_a_metric_that_no_round_reports():
    trial, (X, y, _) = optuna.create_study().ask(), data()
    model = SLMBoostClassifier(n_estimators=3, callbacks=[OptunaPruning(trial)])
    with pytest.raises(ValueError, match=r"metric='validation' .* reports 'train'. Pass X_val and y_val to fit"):
        model.fit(X, y)
    model.set_params(callbacks=[OptunaPruning(trial, "auc")])
    with pytest.raises(ValueError, match=r"metric='auc' of OptunaPruning is not reported .* 'train', 'validation'\.$"):
        fit(model)


@pytest.mark.parametrize("every", [0, -1, 1.5, True, "2"])
def test_every_is_a_number_of_rounds(every):
    with pytest.raises(ValueError, match=r"every must be an integer of at least 1; got"):
        OptunaPruning(None, every=every)


def test_without_optuna_the_error_says_how_to_get_it(monkeypatch):
    class Trial:
        def report(self, value, step): ...

        def should_prune(self):
            return True

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ModuleNotFoundError, match=r"OptunaPruning needs optuna, which is not installed: pip install"):
        OptunaPruning(Trial())(1, {"validation": 1.0})
