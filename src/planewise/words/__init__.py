"""Names, numbers, values, planes, descriptions of models and reasons for predictions, as data and as plain text."""

from planewise.words._contribution_words import Part, Start
from planewise.words._descriptions import (
    Description,
    Limits,
    TableSection,
    TextSection,
    basic_facts,
    changed_parameters,
    describe,
    fitted_model,
)
from planewise.words._letters import cut, joined, shorten, shown, tidy, unpiled, wrap
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
from planewise.words._reasons import SAME_VALUES, Contributions, Path, Reason, Step, Vector, Vectors, View
from planewise.words._values import class_in_words, mix_in_words, plain_data, value_in_words

__all__ = [
    "MINUS",
    "SAME_VALUES",
    "Contributions",
    "Description",
    "Limits",
    "Part",
    "Path",
    "Plane",
    "Reason",
    "Start",
    "Step",
    "TableSection",
    "TextSection",
    "Vector",
    "Vectors",
    "View",
    "basic_facts",
    "categories_of",
    "cell_in_marks",
    "cell_in_words",
    "changed_parameters",
    "class_in_words",
    "class_names",
    "count",
    "counted",
    "cut",
    "describe",
    "feature_names",
    "find_feature",
    "fitted_model",
    "formula",
    "joined",
    "linear_sum",
    "mix_in_words",
    "normal_form",
    "number",
    "percent",
    "plain_data",
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
