"""Tables I to III and Figure 5 of the paper on subspace learning machines."""

from __future__ import annotations

from .. import methods as m
from ..claims import at_least_as_good
from ..convergence import CONVERGENCE, PAPER_CLAIMS, SETS, draw_curves
from ..convergence import TREES as NUMBERS_OF_TREES
from ..data import SLM_CLASSES, SLM_NUMBERS
from ..declaration import Edge, Experiment, PaperClaim, Table, Why, printed_figures
from ..protocols import SearchOnTest, SeededSplits
from ..settle_sizes import (
    FEWER_PARAMETERS,
    HALF_OF_NETWORKS,
    SHALLOWER,
    best_splits,
    found_on_one_split,
    size_at_printed_accuracy,
)
from ..settle_slm import ABOUT_CLASSES, ABOUT_NUMBERS

FOR_ORIENTATION = {"FF-MLP": 3, "BP-MLP": 3, "LSVM": 3, "SVM/RBF": 3, "LSVR": 3, "SVR/RBF": 2}
CLASSES = Experiment(
    "slm-classes",
    SeededSplits(test_share=0.4),
    SLM_CLASSES,
    (
        m.FF_MLP,
        m.BP_MLP,
        m.LINEAR_SVM,
        m.RBF_SVM,
        m.DECISION_TREE,
        m.TUNED_DECISION_TREE,
        m.SLM_BASELINE_PUBLISHED,
        m.SLM_BASELINE,
        m.SLM_DEFAULTS,
        m.RANDOM_FOREST,
        m.XGBOOST,
        m.SLM_FOREST_PUBLISHED,
        m.SLM_FOREST,
        m.SLM_FOREST_DEFAULTS,
        m.SLM_BOOST_PUBLISHED,
        m.SLM_BOOST,
    ),
    seeds=10,
    quick_seeds=1,
    fewer_seeds=FOR_ORIENTATION,
)
PUBLISHED = (m.SLM_BASELINE_PUBLISHED, m.SLM_FOREST_PUBLISHED, m.SLM_BOOST_PUBLISHED)
SEARCHED = Experiment(
    "slm-best",
    SearchOnTest(),
    SLM_CLASSES,
    PUBLISHED,
    seeds=10,
    quick_seeds=1,
)
NUMBERS = Experiment(
    "slm-numbers",
    SeededSplits(test_share=0.4),
    SLM_NUMBERS,
    (
        m.LINEAR_SVR,
        m.RBF_SVR,
        m.DECISION_TREE,
        m.TUNED_DECISION_TREE,
        m.SLM_BASELINE_PUBLISHED,
        m.SLM_BASELINE,
        m.SLM_DEFAULTS,
        m.RANDOM_FOREST,
        m.XGBOOST,
        m.SLM_FOREST_PUBLISHED,
        m.SLM_FOREST,
        m.SLM_FOREST_DEFAULTS,
        m.SLM_BOOST_PUBLISHED,
        m.SLM_BOOST,
    ),
    seeds=10,
    quick_seeds=1,
    fewer_seeds={"california_housing": 3, m.SLM_BOOST_PUBLISHED.name: 5} | FOR_ORIENTATION,
)

CLASS_TITLES = (
    "circle-and-ring", "2-new-moons", "4-new-moons", "Iris", "Wine", "B.C.W.", "Pima", "Ionosphere", "Banknote",
)  # fmt: skip
CLASS_SETS = tuple(Edge(title, data=data.name) for title, data in zip(CLASS_TITLES, SLM_CLASSES, strict=True))
NUMBER_TITLES = ("Friedman 1", "Friedman 2", "Friedman 3", "Boston", "California", "Diabetes")
NUMBER_SETS = tuple(
    Edge(title, data=data.name, digits=digits)
    for title, data, digits in zip(NUMBER_TITLES, SLM_NUMBERS, (2, 2, 3, 2, 3, 2), strict=True)
)

TREES = ("SLM Baseline, published", "SLM Baseline", "SLM, defaults")
PROTOCOL = (
    "Our figures are means ± standard deviations over seeded 60/40 splits (and random draws of the synthetic data "
    "sets). Every method is tuned over nine grid points with three folds of the training part, except the “defaults” "
    "and DT, which the paper grows without limit. The paper's figures come from one unseeded split, with parameters "
    "searched on that split, so they are best cases. Methods have two to ten splits, as the last line below the table "
    "says; comparisons use the splits that both methods have. Networks and support vector machines have two or three, "
    "and are shown for reference. Standard errors of differences: splits of a real table share rows, so we "
    "multiply the variance over n splits by 1 / n + 40/60 instead of 1 / n (Nadeau and Bengio's correction). Synthetic "
    "data sets are drawn again for each seed, so theirs are ordinary standard errors."
)
GRIDS = (
    "Our grids were chosen inside the training parts of other data sets, by one criterion (see slm-grids). The grids "
    "of SLM Baseline and SLM Forest had first been chosen on test parts, including some of the data sets in these "
    "tables; slm-grids confirms them."
)
# What a count of correct predictions would give instead.
OF_228 = "impossible on 228 test rows (40% of 569): {} would be printed as {}"
OF_157 = "impossible on 157 test rows (40% of 392): 124 correct predictions would be printed as 78.98"
OF_141 = "impossible on 141 test rows (40% of 351): 135 correct predictions would be printed as 95.74"

TABLE_1 = Table(
    "slm-table-1",
    "SLM, Table I: accuracy (%) on nine data sets",
    CLASSES,
    rows=tuple(Edge(method.name, method=method.name) for method in CLASSES.methods),
    columns=tuple(Edge(each.title, data=each.data, metric="accuracy") for each in CLASS_SETS),
    printed=printed_figures(
        """
        FF-MLP       | 87.25 | 91.25 | 95.38 | 98.33 | 94.44  | 94.30 | 73.89 | 89.36 | 98.18
        BP-MLP       | 88.00 | 91.25 | 87.00 | 64.67 | 79.72  | 97.02 | 75.54 | 84.11 | 88.38
        LSVM         | 48.50 | 85.25 | 85.00 | 96.67 | 98.61  | 96.49 | 76.43 | 86.52 | 99.09
        SVM/RBF      | 88.25 | 89.75 | 88.38 | 98.33 | 98.61  | 97.36 | 75.15 | 93.62 | 100.00
        DT           | 85.00 | 87.25 | 94.63 | 98.33 | 95.83  | 94.74 | 77.07 | 89.36 | 98.00
        SLM Baseline, published | 88.25 | 91.50 | 95.63 | 98.33 | 98.61  | 97.23 | 77.71 | 90.07 | 99.09
        RF           | 87.00 | 90.50 | 96.00 | 98.33 | 100.00 | 95.61 | 79.00 | 94.33 | 98.91
        XGBoost      | 87.50 | 91.25 | 96.00 | 98.33 | 100.00 | 98.25 | 75.80 | 91.49 | 99.82
        SLM Forest, published | 88.25 | 91.50 | 96.00 | 98.33 | 100.00 | 97.36 | 79.00 | 95.71 | 100.00
        SLM Boost, published | 88.25 | 91.50 | 96.00 | 98.33 | 100.00 | 98.83 | 77.71 | 94.33 | 100.00
        """,
        list(CLASS_TITLES),
    ),
    doubts={
        ("SLM Baseline, published", "B.C.W."): OF_228.format("222 correct predictions", "97.37"),
        ("SLM Boost, published", "B.C.W."): OF_228.format("225 correct predictions", "98.68"),
        ("RF", "Pima"): OF_157,
        ("SLM Forest, published", "Pima"): OF_157,
        ("SLM Forest, published", "Ionosphere"): OF_141,
    },
    notes=(
        PROTOCOL,
        GRIDS,
        "4-new-moons: the paper does not print the coordinates. We placed the moons so that the best possible accuracy "
        "agrees with its table.",
        "The paper copied its rows FF-MLP and BP-MLP from its reference [4]. Ours are our own implementation of the "
        "published description: a plane by two-class LDA between every two Gaussian blobs of different classes, a "
        "neuron per region, an output per class; BP-MLP starts from these weights and is trained for 50 epochs. The "
        "number of blobs per class is searched. Its grid was chosen inside the training parts of these data sets, "
        "after a first grid (the same number for all classes) had given 84.67 on the test parts of circle-and-ring. "
        "The large negative weights between regions silence some neurons of BP-MLP for good.",
        "“Published” rows have the settings of the paper (`planewise.published`); the printed figures stand beside "
        "them. “SLM Baseline”, “SLM Forest” and “SLM Boost” are this library's own variants, “defaults” these without "
        "a search (and forests of 100 trees). The other forests of SLM trees have 20 trees, as in the paper; RF has "
        "100. “DT, tuned” is our addition.",
    ),
    claims=(
        at_least_as_good("SLM Baseline", "DT", 7),
        at_least_as_good("SLM Baseline", "DT, tuned", 7),
        at_least_as_good("SLM Forest", "RF", 7),
        at_least_as_good("SLM Forest, defaults", "RF", 7),
        at_least_as_good("SLM Boost", "XGBoost", 7),
    ),
    why=(
        Why(
            "Pima and Wine: splits share rows, so no difference from RF or XGBoost reaches two standard errors. Both "
            "data sets are small (235 and 106 training rows). On Pima, both forests and SLM Boost are behind; SLM "
            "Baseline is ahead of DT and behind “DT, tuned”. SLM Forest has 20 trees, as in the paper, and RF has 100. "
            "With 100 trees (“defaults”, nothing tuned), SLM Forest is closer on both data sets, but still behind.",
            claims=(
                "Wine (-1.81, 0.9 standard errors), Pima (-1.91, 1.3 standard errors)",
                "Wine (-1.25, 0.6 standard errors), Pima (-1.72, 1.0 standard errors)",
                "behind on Pima (-1.85, 1.7 standard errors)",
            ),
            figures={("SLM Baseline", "Pima"): "74.46", ("DT", "Pima"): "72.29", ("DT, tuned", "Pima"): "75.92"},
        ),
        Why(
            "2-new-moons: the tuned SLM Forest is level with RF. “SLM Forest, defaults”, which is not tuned whereas RF "
            "is, is significantly behind.",
            claims=(
                "2-new-moons (-0.15, 0.6 standard errors)",
                "2-new-moons (-0.975, 3.4 standard errors)",
            ),
        ),
    ),
    paper_claims=ABOUT_CLASSES,
)

TABLE_2 = Table(
    "slm-table-2",
    "SLM, Table II: number of parameters, as counted in the paper, and depth",
    CLASSES,
    rows=CLASS_SETS,
    columns=(
        Edge("FF/BP-MLP", method="FF-MLP", metric="parameters"),
        *(Edge(name, method=name, metric="parameters") for name in ("LSVM", "SVM/RBF", "DT", "DT, tuned")),
        *(Edge(name, method=name, metric="parameters") for name in TREES),
        *(Edge(f"depth, {name}", method=name, metric="depth", digits=1) for name in ("DT", "DT, tuned", *TREES[:2])),
        *(Edge(f"numbers stored, {name}", method=name, metric="stored") for name in TREES[:2]),
        *(Edge(f"accuracy, {name}", method=name, metric="accuracy", digits=2) for name in TREES),
    ),
    printed=printed_figures(
        """
        circle-and-ring | 125  | 2965 | 1425 | 350 | 39  | 14 | 4
        2-new-moons     | 114  | 1453 | 1305 | 286 | 42  | 15 | 4
        4-new-moons     | 702  | 2853 | 2869 | 298 | 93  | 11 | 5
        Iris            | 47   | 235  | 343  | 34  | 20  | 6  | 3
        Wine            | 147  | 453  | 963  | 26  | 99  | 4  | 2
        B.C.W.          | 74   | 1462 | 3254 | 54  | 126 | 7  | 4
        Pima            | 2012 | 1532 | 1802 | 130 | 55  | 8  | 3
        Ionosphere      | 278  | 1017 | 2207 | 50  | 78  | 10 | 2
        Banknote        | 22   | 1160 | 1322 | 78  | 40  | 7  | 3
        """,
        ["FF/BP-MLP", "LSVM", "SVM/RBF", "DT", TREES[0], "depth, DT", f"depth, {TREES[0]}"],
    ),
    doubts={
        ("Pima", "LSVM"): "counts 461 training rows, but 60% of the 392 rows of Table I are 235",
        ("Pima", "SVM/RBF"): "counts 461 training rows, but 60% of the 392 rows of Table I are 235",
        ("", "DT"): "seems to count nodes instead of splits: all nine printed numbers of splits are odd",
    },
    digits=0,
    notes=(
        "The models of Table I: trees of planes are tuned, and DT grows until its leaves are pure, as in the paper; "
        "“DT, tuned” searches depth and leaf size. Parameters: L + 1 + (D + 2) per support vector for SVM (eq. 36), "
        "twice the number of splits for DT, planes × (D0 + 1) for SLM (eq. 37), weights and biases for MLP. “Numbers "
        "stored” is the true size of an SLM tree: non-zero weights, thresholds and leaf values.",
    ),
    claims=(size_at_printed_accuracy(TREES, {name: TABLE_1.printed[TREES[0], name] for name in CLASS_TITLES}, 6),),
    paper_claims=(FEWER_PARAMETERS, SHALLOWER, HALF_OF_NETWORKS),
)

TABLE_3 = Table(
    "slm-table-3",
    "SLM, Table III: RMSE on six data sets",
    NUMBERS,
    rows=tuple(Edge(method.name, method=method.name) for method in NUMBERS.methods),
    columns=tuple(Edge(each.title, data=each.data, metric="rmse", digits=each.digits) for each in NUMBER_SETS),
    printed=printed_figures(
        """
        LSVR         | 2.49 | 138.43 | 0.22 | 4.90 | 0.76 | 53.78
        SVR/RBF      | 1.17 | 6.74   | 0.11 | 3.28 | 0.58 | 53.71
        DT           | 3.10 | 33.57  | 0.11 | 4.75 | 0.74 | 76.56
        SLM Baseline, published | 2.89 | 31.28  | 0.11 | 4.42 | 0.69 | 56.05
        RF           | 2.01 | 22.32  | 0.08 | 3.24 | 0.52 | 54.34
        XGBoost      | 1.17 | 32.34  | 0.07 | 2.67 | 0.48 | 53.99
        SLM Forest, published | 1.88 | 20.79  | 0.08 | 3.01 | 0.48 | 52.52
        SLM Boost, published | 1.07 | 18.07  | 0.06 | 2.39 | 0.45 | 51.27
        """,
        list(NUMBER_TITLES),
    ),
    notes=(
        PROTOCOL,
        GRIDS,
        "SLM is called SLR in the paper. California has three splits, and is tuned on 3,000 rows of the training part; "
        "“SLM Boost, published” has five splits of the other data sets.",
    ),
    claims=(
        at_least_as_good("SLM Baseline", "DT", 5, lower_is_better=True),
        at_least_as_good("SLM Baseline", "DT, tuned", 5, lower_is_better=True),
        at_least_as_good("SLM Forest", "RF", 5, lower_is_better=True),
        at_least_as_good("SLM Forest, defaults", "RF", 5, lower_is_better=True),
        at_least_as_good("SLM Boost", "XGBoost", 5, lower_is_better=True),
    ),
    paper_claims=ABOUT_NUMBERS,
)

BEST = Table(
    "slm-best",
    "SLM, Table I: accuracy (%) if the parameters are searched on the test part",
    SEARCHED,
    rows=tuple(
        Edge(f"{method.name}, {words}", method=method.name, metric=metric)
        for method in PUBLISHED
        for metric, words in {"first": "first point", "best": "best point"}.items()
    ),
    columns=CLASS_SETS,
    printed={
        (f"{method.name}, best point", title): TABLE_1.printed[method.name, title]
        for method in PUBLISHED
        for title in CLASS_TITLES
    },
    notes=(
        "As the paper did: for each of ten seeded 60/40 splits, the parameters of the published methods are searched "
        "on the test part itself, among the nine points from which Table I chooses inside the training part. “First "
        "point” is the first of the nine, without a search.",
    ),
    claims=tuple(best_splits(method.name) for method in PUBLISHED),
    paper_claims=(
        PaperClaim(
            "SLM, Table I (printed figures)",
            "The accuracies are those of a search on one split.",
            found_on_one_split(tuple(method.name for method in PUBLISHED)),
        ),
    ),
)

FIGURE_5 = Table(
    "slm-figure-5",
    "SLM, Figure 5: accuracy (%) of forests and log-loss of boosting by number of trees",
    CONVERGENCE,
    rows=tuple(
        Edge(f"{title}, {method.name}", data=data.name, method=method.name)
        for title, data in SETS.items()
        for method in CONVERGENCE.methods
    ),
    columns=tuple(Edge(str(trees), metric=str(trees)) for trees in NUMBERS_OF_TREES),
    digits=3,
    notes=(
        "The paper prints curves without numbers, and says that the maximum depth and the learning rate are the same "
        "for both kinds of trees, but not their values. Ours are depth 3 and 6, and learning rate 0.1. Our figures "
        "are means over seeded 60/40 splits, and nothing is tuned. A tree of planes may have four children per node "
        "where a binary tree has two, so that equal depth gives it more leaves. XGBoost has its default penalty "
        "(lambda = 1), the published SLM Boost none.",
    ),
    paper_claims=PAPER_CLAIMS,
    picture=draw_curves,
)

TABLES = (TABLE_1, TABLE_2, TABLE_3, BEST, FIGURE_5)
