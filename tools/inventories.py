"""Write docs/inventories: where the documentation of other projects describes the names that ours refers to.

``python tools/inventories.py`` writes one small inventory per project from the names below, so that ``make docs``
needs no network. ``python tools/inventories.py --check`` compares them with the inventories that the projects publish
(this needs the network) and prints every name that has moved; correct it below and write them again. To link to a new
name, add it below. ``--check --from NAME=PATH`` compares one project with a file instead.
"""

from __future__ import annotations

import argparse
import re
import sys
import urllib.request
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "inventories"


@dataclass(frozen=True)
class Project:
    """A project's address, and its names: by the page that they are on, and the kind of each."""

    address: str
    pages: dict[str, dict[str, str]]  # page -> {kind: names}; {} stands for the name; a name may say "name#anchor"

    def entries(self) -> Iterator[tuple[str, str, str]]:
        """Name, kind and place of everything."""
        for page, kinds in self.pages.items():
            for kind, names in kinds.items():
                for each in names.split():
                    name, _, anchor = each.partition("#")
                    anchor = anchor or {"std:term": "term-"}.get(kind, "") + name
                    yield name, kind, f"{page.replace('{}', name)}#{anchor}"


GENERATED = "reference/generated/{}.html"
PROJECTS = {
    "python": Project(
        "https://docs.python.org/3/",
        {
            "library/functions.html": {"py:class": "bool float int object", "py:function": "callable"},
            "library/stdtypes.html": {
                "py:class": "dict list str tuple",
                "std:label": "bltin-boolean-values",
            },
            "library/constants.html": {"py:data": "False None True"},
            "library/exceptions.html": {"py:exception": "ValueError"},
            "library/os.html": {"py:class": "os.PathLike"},
            "library/pathlib.html": {"py:class": "pathlib.Path"},
            "glossary.html": {"std:term": "iterable sequence"},
        },
    ),
    "numpy": Project(
        "https://numpy.org/doc/stable/",
        {
            GENERATED: {
                "py:class": "numpy.dtype numpy.ndarray",
                "py:function": "numpy.array numpy.isin numpy.unique numpy.where",
            },
            "reference/random/generator.html": {"py:function": "numpy.random.default_rng"},
            "reference/random/legacy.html": {"py:class": "numpy.random.RandomState"},
            "glossary.html": {"std:term": "array_like"},
        },
    ),
    "scipy": Project("https://docs.scipy.org/doc/scipy/", {GENERATED: {"py:class": "scipy.sparse.csr_matrix"}}),
    "sklearn": Project(
        "https://scikit-learn.org/stable/",
        {
            "modules/generated/{}.html": {
                "py:class": "sklearn.ensemble.GradientBoostingClassifier sklearn.ensemble.RandomForestClassifier"
                " sklearn.multioutput.MultiOutputRegressor sklearn.pipeline.Pipeline"
                " sklearn.preprocessing.StandardScaler sklearn.svm.SVC sklearn.tree.DecisionTreeClassifier"
                " sklearn.utils.Bunch sklearn.utils.metadata_routing.MetadataRequest"
                " sklearn.utils.metadata_routing.MetadataRouter",
                "py:function": "sklearn.datasets.load_breast_cancer sklearn.metrics.accuracy_score"
                " sklearn.metrics.r2_score sklearn.model_selection.train_test_split sklearn.pipeline.make_pipeline"
                " sklearn.set_config",
            },
            "metadata_routing.html": {"std:label": "metadata_routing#metadata-routing"},
            "modules/df_output_transform.html": {"std:label": "df_output_transform#df-output-transform"},
            "modules/model_evaluation.html": {"std:label": "accuracy_score#accuracy-score r2_score#r2-score"},
            "auto_examples/miscellaneous/plot_set_output.html": {
                "std:label": "sphx_glr_auto_examples_miscellaneous_plot_set_output.py"
                "#sphx-glr-auto-examples-miscellaneous-plot-set-output-py"
            },
            "glossary.html": {"std:term": "meta-estimator"},
        },
    ),
    "pandas": Project("https://pandas.pydata.org/docs/", {"reference/api/{}.html": {"py:class": "pandas.DataFrame"}}),
    "polars": Project(
        "https://docs.pola.rs/api/python/stable/",
        {
            "reference/dataframe/index.html": {"py:class": "polars.DataFrame"},
            "reference/lazyframe/index.html": {"py:class": "polars.LazyFrame"},
        },
    ),
    "matplotlib": Project(
        "https://matplotlib.org/stable/",
        {
            "api/_as_gen/{}.html": {
                "py:class": "matplotlib.axes.Axes matplotlib.figure.Figure",
                "py:function": "matplotlib.pyplot.show matplotlib.pyplot.subplots",
            }
        },
    ),
}
ENTRY = re.compile(r"(.+?) (\S+:\S+) -?\d+ (\S*) .*")
HEAD = (
    "# Sphinx inventory version 2\n# Project: {}\n# Version: \n# The remainder of this file is compressed using zlib.\n"
)


def write(name: str, project: Project, folder: Path) -> None:
    """Write the inventory of a project, the same bytes each time."""
    lines = "".join(f"{entry} {kind} 1 {place} -\n" for entry, kind, place in sorted(project.entries()))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.inv").write_bytes(HEAD.format(name).encode() + zlib.compress(lines.encode(), 9))


def read(inventory: bytes) -> dict[tuple[str, str], str]:
    """The places in an inventory by name and kind; $ at the end of a place stands for the name."""
    *_, packed = inventory.split(b"\n", 4)
    places = {}
    for line in zlib.decompress(packed).decode().splitlines():
        name, kind, place = ENTRY.match(line).groups()
        places[name, kind] = place[:-1] + name if place.endswith("$") else place
    return places


def moved(name: str, project: Project, source: str) -> list[str]:
    """What is elsewhere in the published inventory, or is not in it."""
    with urllib.request.urlopen(source, timeout=60) as answer:
        published = read(answer.read())
    faults = []
    for entry, kind, place in project.entries():
        now = published.get((entry, kind))
        if now != place:
            faults.append(f"{name}: {kind} {entry} is {f'at {now}' if now else 'not published'}, not at {place}")
    return faults


def main() -> int:
    """Write the inventories, or compare them with the published ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the published inventories")
    parser.add_argument(
        "--from", dest="files", metavar="NAME=PATH", action="append", help="with --check: a file instead"
    )
    args = parser.parse_args()
    if not args.check:
        for name, project in PROJECTS.items():
            write(name, project, FOLDER)
        return 0
    sources = {name: f"{project.address}objects.inv" for name, project in PROJECTS.items()}
    if args.files:
        sources = {each.partition("=")[0]: Path(each.partition("=")[2]).resolve().as_uri() for each in args.files}
    faults = [fault for name, source in sources.items() for fault in moved(name, PROJECTS[name], source)]
    print("\n".join(faults) or "All names are where the projects say.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
