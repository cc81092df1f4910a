"""Names, numbers, values, planes and descriptions of models, as data and as plain text: below all outputs."""

from planewise.words._descriptions import Description, Limits, TableSection, TextSection
from planewise.words._letters import joined, shorten, shown, tidy, unpiled, wrap
from planewise.words._names import categories_of, class_names, feature_names, find_feature, with_unit
from planewise.words._numbers import MINUS, count, counted, number, percent, signed
from planewise.words._planes import (
    Plane,
    cell_in_marks,
    cell_in_words,
    formula,
    linear_sum,
    normal_form,
    plane_in_words,
    read_plane,
)
from planewise.words._values import class_in_words, mix_in_words, value_in_words

__all__ = [
    "MINUS",
    "Description",
    "Limits",
    "Plane",
    "TableSection",
    "TextSection",
    "categories_of",
    "cell_in_marks",
    "cell_in_words",
    "class_in_words",
    "class_names",
    "count",
    "counted",
    "feature_names",
    "find_feature",
    "formula",
    "joined",
    "linear_sum",
    "mix_in_words",
    "normal_form",
    "number",
    "percent",
    "plane_in_words",
    "read_plane",
    "shorten",
    "shown",
    "signed",
    "tidy",
    "unpiled",
    "value_in_words",
    "with_unit",
    "wrap",
]
