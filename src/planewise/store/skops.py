"""The types of planewise that skops must be told to trust."""

from __future__ import annotations

SKOPS_TRUSTED_TYPES = [
    "planewise.additive.classifier.AdditiveClassifier",
    "planewise.additive.kept_rows.KeptRows",
    "planewise.additive.purify.ColumnBins",
    "planewise.additive.purify.Move",
    "planewise.additive.purify.Purification",
    "planewise.additive.regressor.AdditiveRegressor",
    "planewise.data.columns.Column",
    "planewise.data.columns.LeftOut",
    "planewise.data.scaling.Scaling",
    "planewise.data.scaling.ScalingToFloat32",
    "planewise.data.values.Dates",
    "planewise.machines.classifier.MCMClassifier",
    "planewise.machines.columns.Preparation",
    "planewise.machines.columns.PreparedScaling",
    "planewise.machines.conformal.ConformalKernel",
    "planewise.machines.conformal_factor.ConformalFactor",
    "planewise.machines.descent.Learner",
    "planewise.machines.descent.LinearModel",
    "planewise.machines.kernels.Kernel",
    "planewise.machines.large.LargeScaleMCMClassifier",
    "planewise.machines.maps.KernelMap",
    "planewise.machines.maps.PrototypeMap",
    "planewise.machines.regressor.MCMRegressor",
    "planewise.machines.regressor_search.MCMRegressorCV",
    "planewise.machines.search.MCMClassifierCV",
    "planewise.machines.settings.Settings",
    "planewise.recip.classifier.RECIPClassifier",
    "planewise.recip.estimates.Counts",
    "planewise.recip.estimates.Distances",
    "planewise.recip.rows.Coordinates",
    "planewise.recip.rows.DistinctRows",
    "planewise.table.intervals.HeldOutErrors",
    "planewise.table.model.TableModel",
    "planewise.trees.arrays.Forest",
    "planewise.trees.arrays.Trials",
    "planewise.trees.boost_classifier.SLMBoostClassifier",
    "planewise.trees.boost_regressor.SLMBoostRegressor",
    "planewise.trees.feature_test.DiscriminantFeatureTest",
    "planewise.trees.forest.SLMForestClassifier",
    "planewise.trees.forest.SLMForestRegressor",
    "planewise.trees.losses.RawLoss",
    "planewise.trees.ranking.SLMBoostRanker",
    "planewise.trees.target_statistics.TargetStatistics",
    "planewise.trees.tree.SLMClassifier",
    "planewise.trees.tree.SLMRegressor",
]
"""Names of all types that a fitted model of planewise can contain and that skops does not know.

Pass it as ``trusted`` to ``skops.io.loads`` and ``skops.io.load``, or as ``skops_trusted_types`` to
``mlflow.sklearn.log_model``. None of these types runs code of the file when it is loaded.
"""
