"""The types of planewise that skops must be told to trust."""

from __future__ import annotations

SKOPS_TRUSTED_TYPES = [
    "planewise._scaling.Scaling",
    "planewise.mcm._conformal.ConformalKernel",
    "planewise.mcm._conformal_factor.ConformalFactor",
    "planewise.mcm._feature_maps.KernelMap",
    "planewise.mcm._feature_maps.PrototypeMap",
    "planewise.mcm._kernels.Kernel",
    "planewise.mcm._preparation.Preparation",
    "planewise.mcm._preparation.PreparedScaling",
    "planewise.mcm.exact._classifier.MCMClassifier",
    "planewise.mcm.exact._regressor.MCMRegressor",
    "planewise.mcm.exact._regressor_search.MCMRegressorCV",
    "planewise.mcm.exact._search.MCMClassifierCV",
    "planewise.mcm.exact._settings.Settings",
    "planewise.mcm.large._classifier.LargeScaleMCMClassifier",
    "planewise.mcm.large._descent.Learner",
    "planewise.mcm.large._descent.LinearModel",
    "planewise.recip._classifier.RECIPClassifier",
    "planewise.recip._estimates.Counts",
    "planewise.recip._estimates.Distances",
    "planewise.recip._rows.Coordinates",
    "planewise.recip._rows.DistinctRows",
    "planewise.slm._boost_classifier.SLMBoostClassifier",
    "planewise.slm._boost_regressor.SLMBoostRegressor",
    "planewise.slm._feature_test.DiscriminantFeatureTest",
    "planewise.slm._forest.SLMForestClassifier",
    "planewise.slm._forest.SLMForestRegressor",
    "planewise.slm._objectives.RawLoss",
    "planewise.slm._ranker.SLMBoostRanker",
    "planewise.slm._target_statistics.TargetStatistics",
    "planewise.slm._tree.SLMClassifier",
    "planewise.slm._tree.SLMRegressor",
    "planewise.slm.fitted.Forest",
    "planewise.slm.fitted.Trials",
    "planewise.table._columns.Column",
    "planewise.table._columns.LeftOut",
    "planewise.table._intervals.HeldOutErrors",
    "planewise.table._model.TableModel",
    "planewise.views._classifier.SLMViewsClassifier",
    "planewise.views._kept_rows.KeptRows",
    "planewise.views._purify.ColumnBins",
    "planewise.views._purify.Move",
    "planewise.views._purify.Purification",
    "planewise.views._regressor.SLMViewsRegressor",
]
"""Names of all types that a fitted model of planewise can contain and that skops does not know.

Pass it as ``trusted`` to ``skops.io.loads`` and ``skops.io.load``, or as ``skops_trusted_types`` to
``mlflow.sklearn.log_model``. None of these types runs code of the file when it is loaded.
"""
