"""Whatever stands in a table's names, labels and categories, every export holds it as text and as nothing else."""

from __future__ import annotations

import copy
import json
import subprocess
import unicodedata
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from c_tokens import strings, tokens
from compiled import COMPILERS, c_answers, needs_compiler
from fitted import fitted_machine, fitted_tree, table, targets, trial_rows
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.report.pages import read

from planewise.export import to_c, to_onnx, to_text
from planewise.report import report
from planewise.table import TableModel

PLANT = " static int planted(void){return 42;} "
# Letters and marks by their kind, of which nothing is seen: fillers, joiners and choices of a letter's form.
INVISIBLE = [*"\u3164\u115f\u1160\uffa0\ufe0f\u034f\u17b4\u17b5\u180b\u180f\U000e0100"]
PIECES = [
    *("*/", "/*", "*\\", "\\*", "*\\\n/", "\\", "\\\n", "??/", "*??/\n/", "//", "'", '"', "?", "*", "/", "/ *", "* /"),
    *("\n", "\r", "\r\n", "\t", "\v", "\f", "\0", "\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\x7f", "\b", "\x85"),
    *("\u2028", "\u2029", "\u202e", "\u2066", "\u2069", "\u200f", "\u200b", "\ufeff", "\xa0", "\u3000", "\ue000"),
    *INVISIBLE,
    *("\uff0a\uff0f", "\u2217\u2215", "\\u002a/", "\\x2a/", "&#42;/", "%:", "<%", "%s%n", "${name}", "$name", "{0}"),
    *("<script>alert(1)</script>", "</pre>", "</title>", "<img src=x onerror=alert(1)>", "&amp;", "<!--", "]]>"),
    *("#define float int\n", '#include "/etc/passwd"\n', "_Pragma", "#if 0\n", "\n#endif\n", "LL", "0x", ";", "};"),
    *("Größe", "长度", "длина", "طول", "e\u0301", "a" + 40 * "\u0301", "\U0001f600", "µ²", " ", "x" * 300, PLANT),
]
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), min_size=1, max_size=5).map("".join)
BY_HAND = [
    "pri" + "ce".join(INVISIBLE),
    f"*\\{PLANT}\\*",
    f"*/{PLANT}/*",
    f"*\\\n/{PLANT}/*",
    f"*??/\n/{PLANT}/*",
    f"*\x00/{PLANT}/*",
    f"*\u200b/{PLANT}/*",
    f"\r\n*/{PLANT}/*",
    f"\u2028*/{PLANT}",
    f"\u202e*/{PLANT}\u2069",
    f"a??/??/??/\n*/{PLANT}",
    "ends in a backslash \\",
    "ends in a trigraph ??/",
    "??/",
    "\\",
    "*",
    "/",
    "",
    " ",
    "\ud800*/" + PLANT,
    "\x1b[2J\x1b]0;gone\x07",
    '"; ' + PLANT + ' char *s = "',
    '\\"; ' + PLANT + ' char *s = "\\',
    '??/"; ' + PLANT,
    "x" * 5000 + f"*/{PLANT}",
    "many words " * 30 + f"*/{PLANT}",
]


def renamed(model, words):
    """The model with these words for its columns, classes and categories, as often as they are needed."""
    model, word = copy.copy(model), cycle(words)
    if isinstance(model, TableModel):
        model.target_, model.estimator_ = next(word), renamed(model.estimator_, words)
        model.columns_ = [
            replace(each, name=next(word), categories=_in_order(each, next(word))) for each in model.columns_
        ]
        return model
    model.feature_names_in_ = np.array([next(word) for _ in range(model.n_features_in_)], object)
    if hasattr(model, "classes_"):
        model.classes_ = np.array([next(word) for _ in model.classes_], object)
    if hasattr(model, "categories_"):
        model.categories_ = {j: np.array([next(word) for _ in k], object) for j, k in model.categories_.items()}
    return model


def _in_order(column, word):
    """Categories that sort as they do with harmless words."""
    return tuple(f"{word}{k}" for k in range(len(column.categories)))


def _of_a_table():
    X, score = table("categories")
    rows = X[["width", "count", "colour"]].assign(new=score > 1, y=targets("two", score))
    return TableModel("kernel", settings={"mus": [1.0], "gammas": [0.1], "cv": 2, "n_repeats": 1}).fit(rows, "y")


MODELS = [fitted_tree("tree-three", "categories")[0], fitted_machine("two")[0], _of_a_table()]
HARMLESS = [renamed(model, ["a"]) for model in MODELS]


def by_words(check):
    """Run with every list of words tried by hand, and with others."""
    for word in BY_HAND:
        check = example([word])(check)
    return settings(max_examples=30)(given(st.lists(hostile, min_size=1, max_size=6))(check))


@pytest.mark.parametrize("which", range(len(MODELS)))
@by_words
def test_a_compiler_sees_the_tokens_of_the_same_model_with_harmless_names(which, words):
    header = to_c(renamed(MODELS[which], words))
    if max(map(len, words)) <= 1000:  # longer strings are arrays of letters
        assert tokens(header) == tokens(to_c(HARMLESS[which]))
    assert "planted" not in tokens(header)
    for line in header.splitlines():  # of every kind of line end
        assert all(letter == " " or letter.isprintable() for letter in line), line
    assert not set(header) & set(INVISIBLE)
    for letter in set(header) - {"\n"}:
        assert unicodedata.category(letter)[0] in "LNMPS" or letter == " "


@by_words
def test_labels_and_categories_are_kept_letter_by_letter_in_strings(words):
    words = [word[:1000] for word in words]
    model = renamed(MODELS[0], words)
    wanted = [str(each) for known in (model.classes_, *model.categories_.values()) for each in known]
    found = [each.decode("utf-8", "surrogatepass") for each in strings(to_c(model))]
    assert found == wanted


@needs_compiler
@pytest.mark.parametrize("word", BY_HAND)
def test_the_header_compiles_by_the_strictest_rules_and_plants_nothing(word, tmp_path):
    to_c(renamed(MODELS[len(word) % 2 * 2], [word, "ok"]), tmp_path / "model.h")
    (tmp_path / "use.c").write_text(
        '#include "model.h"\nint planted(int a, int b);\n'  # a second planted() could not be declared so
        "int planted(int a, int b) { return a + b; }\nint main(void) { float x[MODEL_N_FEATURES] = {0};\n"
        "return planted(0, 0) + (model_classes[0] == 0) + (model_predict(x) > 99); }\n"
    )
    flags = ["-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-trigraphs"]
    for compiler in COMPILERS:
        done = subprocess.run(
            [compiler, *flags, str(tmp_path / "use.c"), "-o", str(tmp_path / "use"), "-lm"],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert subprocess.run([str(tmp_path / "use")]).returncode == 0


@needs_compiler
def test_many_labels_of_many_words_and_very_long_ones_compile_and_answer():
    model, X = fitted_tree("tree-three", "categories")
    shown, given_ = trial_rows(model, X)
    words = [f"a label of many words, number {k}, " + "that goes on " * k for k in range(30)] + ["y" * 9000, "ü" * 3000]
    label, _ = c_answers(to_c(renamed(model, words)), given_, 3)
    np.testing.assert_array_equal(model.classes_[label], model.predict(shown))


def test_letters_and_figures_of_all_languages_stay_readable_in_c():
    model = renamed(MODELS[1], ["Größe in m² (50 %)", "长度_1", "длина/км", "طول", "a−b ≤ 3 °C & $5 {x}"])
    header = to_c(model)
    for name in model.feature_names_in_:
        assert f"]  {name}\n" in header
    assert "]  what<U+003F> <U+002A>/ <U+000A>\n" in to_c(renamed(MODELS[1], ["what? */ \n"]))


@by_words
def test_onnx_models_check_and_run_and_keep_the_words(words):
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    words = [word.encode("utf-8", "replace").decode() for word in words]
    model, X = fitted_tree("tree-three", "categories")
    _, given_ = trial_rows(model, X)
    named = renamed(model, words)
    made = to_onnx(named)
    onnx.checker.check_model(made)
    about = {each.key: json.loads(each.value) for each in made.metadata_props}
    assert about["feature_names"] == named.feature_names_in_.tolist() and about["classes"] == named.classes_.tolist()
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    label = session.run(["label"], {"X": np.ascontiguousarray(given_[:50], np.float32)})[0]
    assert set(label.tolist()) <= set(named.classes_.tolist())


def test_a_label_that_is_no_unicode_is_refused_by_onnx():
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=r"class label 'a\\ud800' is not valid Unicode"):
        to_onnx(renamed(MODELS[0], ["a\ud800"]))


@by_words
def test_text_has_a_line_for_a_line_and_nothing_a_terminal_obeys(words):
    for model, harmless in zip(MODELS, HARMLESS, strict=True):
        text = to_text(renamed(model, words))
        assert text.count("\n") == to_text(harmless).count("\n") == len(text.splitlines())
        for letter in set(text) - {"\n"}:
            assert unicodedata.category(letter) not in ("Cc", "Cs", "Co", "Zl", "Zp") and (
                unicodedata.category(letter) != "Cf" or letter in "\u200c\u200d"
            )
        text.encode()


@settings(max_examples=15)
@given(st.lists(hostile, min_size=1, max_size=6))
@example(BY_HAND[:12])
@example(BY_HAND[12:])
def test_pages_have_the_tags_of_the_same_model_with_harmless_names(words):
    for model, harmless in zip(MODELS, HARMLESS, strict=True):
        parser = read(report(renamed(model, words), title=words[0] or "t"))
        expected = read(report(harmless, title="a"))
        assert [(tag, name) for tag, name, _ in parser.attributes] == [(t, n) for t, n, _ in expected.attributes]
        assert len(parser.rows) == len(expected.rows) and len(parser.headings) == len(expected.headings)
