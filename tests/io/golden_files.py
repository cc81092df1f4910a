"""Which models of the catalogue are kept as golden files, and what they are asked."""

from __future__ import annotations

from catalogue import answers

GOLDEN = {
    "tree": "tree, frame",
    "tree_words": "tree, str labels",
    "tree_times": "tree, times in seconds",
    "tree_numbers": "tree, numbers",
    "forest": "forest, frame",
    "boosting": "boosting",
    "boosting_poisson": "boosting, poisson",
    "boosting_tweedie": "boosting, tweedie",
    "boosting_ranking": "boosting, ranking",
    "feature_test": "feature test, names",
    "machine": "machine, frame",
    "machine_categories": "machine, categories",
    "machine_linear": "machine, linear",
    "machine_conformal": "machine, conformal",
    "machine_numbers": "machine for numbers",
    "search": "search",
    "search_numbers": "search for numbers, categories",
    "large_machine": "large machine, conformal",
    "large_machine_categories": "large machine, categories",
    "large_machine_fourier": "large machine, fourier",
    "conformal_kernel": "conformal kernel, cores",
    "views": "views",
    "views_numbers": "views for numbers",
    "sum_of_views": "sum of views",
    "sum_of_views_numbers": "sum of views for numbers, poisson",
    "table": "table, boosting",
    "table_machine": "table, machine",
    "table_record": "table, numbers, record",
    "pipeline": "pipeline, columns",
    "pipeline_frames": "pipeline, columns, data frames between steps",
    "pipeline_infrequent": "pipeline, columns, infrequent words",
    "pipeline_ordinal": "pipeline, columns, ordinal words",
    "pipeline_choices": "pipeline, columns, several ways to choose",
    "pipeline_nested": "pipeline, nested",
    "pipeline_bins": "pipeline, KBinsDiscretizer",
    "pipeline_splines": "pipeline, SplineTransformer",
    "pipeline_target": "pipeline, transformed target",
}


def asked(model, X):
    """What the model says about every thirtieth row, as JSON can hold it."""
    return {name: answer.tolist() for name, answer in answers(model, X[::30]).items()}
