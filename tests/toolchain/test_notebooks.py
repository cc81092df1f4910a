"""A notebook that shows our models, run by Jupyter's kernel and turned into a page by nbconvert."""

from __future__ import annotations

import re
from html import unescape

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook

from planewise import SLMClassifier

CELLS = [
    """
    from sklearn.datasets import load_iris
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    import planewise as pw
    X, y = load_iris(return_X_y=True, as_frame=True)
    pw.SLMClassifier(random_state=0).fit(X, y)
    """,
    "pw.RECIPClassifier(random_state=0).fit(X, y).explain(X[:1])[0]",
    "make_pipeline(StandardScaler(), pw.SLMBoostClassifier(n_estimators=5, random_state=0)).fit(X, y)",
]
# What a page could ask another place for. scikit-learn's diagram has links to its documentation, which are followed
# only by a click.
REQUESTS = re.compile(
    r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=(?!["']?data:)|@import|url\((?!["']?(?:data:|\#))"""
)


PICTURE = "data:image/svg+xml;base64,"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    lines = ["\n".join(line.strip() for line in cell.strip().splitlines()) for cell in CELLS]
    made = new_notebook(cells=[new_code_cell(cell) for cell in lines])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    folder = tmp_path_factory.mktemp("notebook")
    NotebookClient(made, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    nbformat.validate(made)
    return made


def shown(cell):
    (output,) = cell.outputs
    return output.data["text/html"]


def words_of(html):
    """The text of a page. nbconvert may write the attributes of a tag in another order."""
    return "".join(unescape(re.sub(r"(?s)<(style|script).*?</\1>|<[^>]*>", "", html)).split())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of nbconvert's own packages
def test_nbconvert_keeps_what_the_notebook_shows(notebook):
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    assert page.count(PICTURE) == sum(shown(cell).count(PICTURE) for cell in notebook.cells) > 0
    for cell in notebook.cells[:2]:
        ours = shown(cell)
        assert words_of(ours[ours.index('<div class="planewise-view"') :]) in words_of(page)


def test_a_fitted_model_shows_scikit_learns_diagram_and_what_it_learned(notebook):
    tree, explanation, pipe = map(shown, notebook.cells)
    assert "sk-top-container" in tree and "petal" in tree and PICTURE in tree
    assert PICTURE in explanation
    assert "sk-top-container" in pipe and "SLMBoostClassifier" in pipe


def test_nothing_is_requested_from_anywhere(notebook):
    for cell in notebook.cells:
        assert REQUESTS.findall(shown(cell)) == []


def test_nothing_is_shown_by_a_script(notebook):
    """Some editors run no scripts in outputs, or not before the notebook is trusted."""
    for cell in notebook.cells[:2]:
        ours = shown(cell)
        assert not re.search(r"<script|\s(?:on\w+|hidden)[=>]", ours[ours.index('<div class="planewise-view"') :])


def test_the_lists_of_a_summary_are_not_laid_out_by_jupyterlab(notebook):
    """JupyterLab and nbconvert give a term a fifth of its column, in which it breaks into syllables."""
    style = ".planewise-view.planewise-view dl > * { float: none; width: auto; }"
    assert style in shown(notebook.cells[0])


def test_the_text_for_consoles_is_there_as_well(notebook):
    (output,) = notebook.cells[0].outputs
    assert output.data["text/plain"] == repr(SLMClassifier(random_state=0))
