"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import planewise

os.environ.pop("PLANEWISE_DATA", None)  # the gallery shows what everybody has
os.environ["PLANEWISE_CACHE"] = os.devnull  # and nothing that was downloaded

project = "planewise"
author = "The planewise developers"
copyright = author
version = release = planewise.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
toc_object_entries_show_parents = "hide"  # fit(), not SLMClassifier.fit()
default_role = "code"  # `name` in docstrings
pygments_style = "tango"
suppress_warnings = ["config.cache"]  # the sort key of the gallery cannot be pickled

# -- pages in Markdown ------------------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# Links that lead to files of the repository outside docs, and the pages that show them on the site.
SHOWN_AT = (
    (re.compile(r"\]\(\.\./examples/(\w+)\.py\)"), r"](/gallery/\1.rst)"),
    (re.compile(r"\]\(\.\./examples/?\)"), "](/gallery/index.rst)"),
    (re.compile(r"\]\(\.\./CONTRIBUTING\.md"), "](/contributing.md"),
    (re.compile(r"\]\(\.\./CHANGELOG\.md"), "](/changelog.md"),
    (re.compile(r"\]\(\.\./SECURITY\.md"), "](/security.md"),
    (re.compile(r"\]\(\.\./README\.md"), "](/index.md"),
)


def link_to_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Links that work in the repository work on the site as well."""
    for link, page in SHOWN_AT:
        source[0] = link.sub(page, source[0])


# -- the API ----------------------------------------------------------------------------------------------------------
autosummary_generate = True
autodoc_typehints = "none"  # types are in the numpydoc sections
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False  # the template of classes has them

# -- the gallery ------------------------------------------------------------------------------------------------------
sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"(?<!\bserve)\.py$",  # all of them run but serve.py, which would never end
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("planewise",),
    "reference_url": {"planewise": None},
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # times of this machine tell a reader nothing
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "plot_gallery": True,
    "abort_on_example_error": True,
    "write_computation_times": False,
}

# -- theme ------------------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = f"planewise {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_context = {"default_mode": "auto"}
html_sidebars = {page: [] for page in ("coming_from", "changelog", "reproduction")}  # no other pages in their section
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "planewise", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "search_as_you_type": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"


def remove_old_pages(app: Sphinx) -> None:
    """Remove the pages that an earlier build made for names that the API does not list any more."""
    api = Path(__file__).parent / "api"
    listed = "".join(page.read_text(encoding="utf-8") for page in api.glob("*.rst"))
    for page in (api / "generated").glob("*.rst"):
        if not re.search(rf"^   {re.escape(page.stem.rpartition('.')[2])}$", listed, flags=re.M):
            page.unlink()


def unlink_references(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Replace references of inherited docstrings to scikit-learn's pages by their text."""
    if str(getattr(obj, "__module__", "")).startswith("sklearn"):
        text = re.sub(r":(?:ref|term):`([^`<]+?)(?:\s*<[^`]*>)?`", r"\1", "\n".join(lines))
        lines[:] = text.split("\n")


def setup(app: Sphinx) -> None:
    """Connect the functions above to the events of Sphinx."""
    app.connect("builder-inited", remove_old_pages, priority=1)
    app.connect("source-read", link_to_pages)
    app.connect("autodoc-process-docstring", unlink_references, priority=400)  # before numpydoc
