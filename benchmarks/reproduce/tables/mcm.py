"""Tables 1 to 4 of the paper on the minimal complexity machine with a conformal kernel, and what its factor does."""

from __future__ import annotations

from .. import methods as m
from .. import settle_mcm as settle
from ..claims import share, signed_rank_test
from ..data import MCM_CONFORMAL, MCM_LARGE, MCM_SMALL
from ..declaration import Data, Edge, Experiment, Method, PaperClaim, Table, printed_figures
from ..protocols import InsideAndOnTestFolds, NestedFolds, Shapes, ValidationPart


def distinct(sets: dict[str, Data]) -> tuple[Data, ...]:
    """The paper's Congressional Voting Records and Housevotes are one set."""
    return tuple({data.name: data for data in sets.values()}.values())


DESCRIPTION = Method("data")
SHAPES = Experiment("mcm-shapes", Shapes(), distinct(MCM_SMALL), (DESCRIPTION,), seeds=1, quick_seeds=1)
# Sets on which the published search took less than ten seconds per fold; on the others it took more than thirty.
QUICK_CONFORMAL = (
    *MCM_CONFORMAL,
    *("Ionosphere", "Wholesale Customers", "Blood Transfusion", "Heart Statlog", "Congressional Voting Records"),
    *("Horsecolic", "Housevotes", "Balance", "Mammographic Masses"),
)
QUICK_PLAIN = (*QUICK_CONFORMAL, "Bands", "Breast Cancer (W)")
TOO_SLOW = "not run: without a penalty, the program takes too long"
PUBLISHED = (m.MCM_PUBLISHED, m.MCM_CONFORMAL_PUBLISHED)
SMALL = Experiment(
    "mcm-small",
    NestedFolds(),
    distinct(MCM_SMALL),
    (m.MCM, m.MCM_WITH_NORM, m.MCM_SIGNED, m.MCM_SHRUNK, m.SVC, *PUBLISHED),
    seeds=5,
    quick_seeds=1,
    not_run={
        (data.name, method.name): TOO_SLOW
        for title, data in MCM_SMALL.items()
        for method, quick in zip(PUBLISHED, (QUICK_PLAIN, QUICK_CONFORMAL), strict=True)
        if title not in quick
    },
)
CONFORMAL = Experiment(
    "mcm-conformal",
    InsideAndOnTestFolds(),
    distinct(MCM_CONFORMAL),
    (*m.MCM_AS_PUBLISHED, m.MCM_AS_PRINTED, m.WIDE_SVC),
    seeds=5,
    quick_seeds=1,
)
LARGE = Experiment(
    "mcm-large",
    ValidationPart(),
    distinct(MCM_LARGE),
    (
        *(m.LARGE_SCALE_MCM, m.LARGE_SCALE_CONFORMAL, m.LARGE_SCALE_SHRUNK),
        *(m.LARGE_SCALE_PUBLISHED, m.LARGE_SCALE_CONFORMAL_PUBLISHED),
    ),
    seeds=3,
    quick_seeds=1,
    fewer_seeds={
        data.name: 1
        for title, data in MCM_LARGE.items()
        if title not in ("diabetes", "breast-cancer", "australian", "german-numer", "fourclass")
    },
)

SMALL_SETS = tuple(Edge(title, data=data.name) for title, data in MCM_SMALL.items())
NESTED = (
    "Our figures are means ± standard deviations over the outer folds of a nested five-fold cross-validation. "
    "Everything that is tuned or estimated (C, mu, gamma, scaling, replacements for missing values, and gamma_c, the "
    "coefficient of the Gaussians in the conformal factor, here `gamma_conformal`) uses only the training part. Ours "
    "and the SVM have twelve grid points each (three mu or C, four gamma) and three folds drawn twice. “MCM, rho > 0” "
    "also has a price on the norm of the machine's function (rho = C / 1000), and the others have none. Conformal "
    "machines try each of these points with two gamma_c, and shrunk ones with three shrinkages as well. The paper "
    "chose gamma_c on the test folds."
)
AS_PUBLISHED = (
    "“Published” is the paper's own method, `planewise.published.mcm_search` (Algorithm 1) and `mcm_conformal_search` "
    "(Algorithm 2), which have no penalty mu. Of its grid of 11 C, 5 gamma and 22 gamma_c we search an even part, 4 × "
    "3 × 3, on three folds of the training part, drawn once (for ours and the SVM: twice). All of it would be "
    "1,210 points, many of them the same machine, because C does not matter where the labels can be interpolated. Six "
    "of the larger data sets are left out, and two more with a conformal kernel, because the program without a penalty "
    "takes too long there."
)
CLEAN = (
    "The data are cleaned: no identifiers, no columns that reveal the target, no rows without a target; text columns "
    "are one-hot encoded. Congressional Voting Records and Housevotes are the same data set, so there are 26."
)
SHRUNK = (
    "“MCM conformal” uses the published signed factor. “MCM shrunk”, our addition, shrinks this factor towards 1 by an "
    "amount chosen with folds of the training part."
)
NOT_RBF = "not the result of an RBF-SVM: 65.34 is the share of the larger class, whereas a tuned RBF-SVM is near 100"
OTHER_LABEL = "the authors' file predicts attribute A1 (480/210) instead of the approval (383/307)"
WITH_ROW_NUMBER = (
    "the authors' tenth feature is the row number, which alone separates the classes: the file is sorted by them"
)
WITH_LEAK = "the authors' file gives 58 rows without a target the value 0, and two columns together reveal the target"
SURGERY = "the authors' file predicts surgery instead of surgical lesion; the lesion codes almost equal the latter"
WITH_IDENTIFIER = "the authors' file has the patient number as a feature"
BY_ROW = {
    ("Australian Credit Approval", ""): OTHER_LABEL,
    ("Glass", ""): WITH_ROW_NUMBER,
    ("ECG", ""): WITH_LEAK,
    ("Horsecolic", ""): SURGERY,
    ("Breast Cancer (W)", ""): WITH_IDENTIFIER,
}

TABLE_1 = Table(
    "mcm-table-1",
    "MCM, Table 1: rows and columns of the small data sets",
    SHAPES,
    rows=SMALL_SETS,
    columns=(
        Edge("samples", method="data", metric="samples"),
        Edge("features", method="data", metric="features"),
    ),
    printed=printed_figures(
        """
        Ionosphere                   | 351  | 54
        Promotors                    | 106  | 57
        Mammographic Masses          | 961  | 5
        Bands                        | 539  | 39
        SONAR                        | 208  | 60
        Wholesale Customers          | 440  | 7
        Seed                         | 140  | 7
        Blogger                      | 100  | 6
        Indian Liver Patient Dataset | 583  | 10
        Blood Transfusion            | 748  | 4
        Tic Tac Toe                  | 958  | 9
        Pima Indians                 | 768  | 8
        Heart Statlog                | 270  | 13
        Habermann's Survival         | 306  | 3
        Hepatitis                    | 155  | 19
        ECG                          | 132  | 12
        Congressional Voting Records | 435  | 16
        Horsecolic                   | 300  | 27
        Australian                   | 690  | 14
        Australian Credit Approval   | 690  | 15
        German Credit                | 1000 | 20
        Breast Cancer (W)            | 568  | 31
        Planning Relax               | 182  | 12
        Housevotes                   | 436  | 16
        Balance                      | 576  | 4
        Ecoli                        | 220  | 6
        Glass                        | 146  | 10
        """,
        ["samples", "features"],
    ),
    doubts={
        ("Ionosphere", "features"): "the data set has 34 columns",
        ("Blogger", "features"): "includes the class",
        ("Bands", "samples"): "the file has 540 rows; the authors' file lacks one",
        ("Bands", "features"): "three of the 39 are identifiers, which we leave out",
        ("ECG", "samples"): "58 of the 132 rows have no target",
        ("ECG", "features"): "two reveal the target, and the donors say to ignore three more; we leave them out",
        ("Horsecolic", "features"): "one is an identifier and three almost equal the target; we leave them out",
        ("Breast Cancer (W)", "samples"): "the data set has 569 rows; the authors' file lacks one",
        ("Breast Cancer (W)", "features"): "30 features and the patient number",
        ("Housevotes", "samples"): "the same data set as Congressional Voting Records, with 435 rows",
        ("Glass", "features"): "9 features and the row number",
    },
    digits=0,
    notes=(CLEAN,),
)

TABLE_2 = Table(
    "mcm-table-2",
    "MCM, Table 2: accuracy (%) on the small data sets",
    SMALL,
    rows=SMALL_SETS,
    columns=(
        Edge("MCM", method="MCM", metric="accuracy"),
        Edge("MCM conformal", method="MCM conformal", metric="accuracy"),
        Edge("SVM", method="SVC", metric="accuracy"),
        Edge("MCM, rho > 0", method="MCM, rho > 0", metric="accuracy"),
        Edge("MCM shrunk", method="MCM shrunk", metric="accuracy"),
        Edge("MCM, published", method="MCM, published", metric="accuracy"),
        Edge("MCM conformal, published", method="MCM conformal, published", metric="accuracy"),
    ),
    printed=printed_figures(
        """
        Ionosphere                   | 88.87 ± 4.12  | 93.72 ± 2.61 | 89.74 ± 2.37
        Promotors                    | 71.44 ± 15.18 | 82.15 ± 3.40 | 82.06 ± 7.69
        Mammographic Masses          | 75.33 ± 12.35 | 83.77 ± 3.92 | 82.42 ± 2.88
        Bands                        | 76.28 ± 7.03  | 80.54 ± 2.99 | 74.23 ± 5.25
        SONAR                        | 76.06 ± 8.13  | 86.13 ± 7.12 | 79.31 ± 6.46
        Wholesale Customers          | 86.13 ± 2.12  | 90.69 ± 1.19 | 90.23 ± 2.05
        Seed                         | 95.71 ± 6.39  | 99.29 ± 1.60 | 97.14 ± 3.91
        Blogger                      | 84.82 ± 5.52  | 84.82 ± 5.52 | 71.04 ± 3.49
        Indian Liver Patient Dataset | 70.67 ± 1.48  | 71.55 ± 0.00 | 73.07 ± 1.37
        Blood Transfusion            | 78.60 ± 2.28  | 75.80 ± 1.22 | 76.87 ± 1.11
        Tic Tac Toe                  | 98.85 ± 1.13  | 98.75 ± 0.28 | 65.34 ± 0.23
        Pima Indians                 | 75.78 ± 3.48  | 76.43 ± 3.88 | 77.86 ± 3.05
        Heart Statlog                | 73.33 ± 6.75  | 81.85 ± 3.80 | 87.04 ± 1.31
        Habermann's Survival         | 72.22 ± 2.85  | 74.18 ± 0.82 | 75.81 ± 2.26
        Hepatitis                    | 75.48 ± 10.04 | 81.36 ± 2.96 | 83.94 ± 5.79
        ECG                          | 83.39 ± 10.93 | 87.15 ± 5.04 | 87.95 ± 4.68
        Congressional Voting Records | 93.57 ± 2.99  | 95.18 ± 0.93 | 96.33 ± 0.94
        Horsecolic                   | 74.67 ± 8.77  | 80.00 ± 4.25 | 82.67 ± 3.84
        Australian                   | 83.76 ± 4.32  | 86.37 ± 2.28 | 87.68 ± 3.48
        Australian Credit Approval   | 68.41 ± 2.21  | 68.48 ± 1.54 | 69.57 ± 0.00
        German Credit                | 74.10 ± 1.43  | 71.60 ± 0.89 | 75.10 ± 2.72
        Breast Cancer (W)            | 94.37 ± 1.72  | 97.19 ± 0.96 | 97.71 ± 1.33
        Planning Relax               | 62.09 ± 8.53  | 71.02 ± 2.92 | 74.19 ± 3.58
        Housevotes                   | 94.04 ± 0.94  | 95.87 ± 0.60 | 96.79 ± 1.25
        Balance                      | 100.00 ± 0.00 | 99.83 ± 0.39 | 96.00 ± 1.01
        Ecoli                        | 96.36 ± 2.03  | 98.18 ± 1.02 | 98.64 ± 2.03
        Glass                        | 90.39 ± 6.66  | 95.20 ± 3.94 | 98.64 ± 1.86
        """,
        ["MCM", "MCM conformal", "SVM"],
    ),
    doubts=BY_ROW | {("Tic Tac Toe", "SVM"): NOT_RBF},
    notes=(
        NESTED,
        AS_PUBLISHED,
        CLEAN,
        SHRUNK,
        "SVM is a tuned RBF-SVC. The printed SVM column is not (see Tic Tac Toe).",
    ),
    claims=(
        signed_rank_test("MCM conformal", "MCM"),
        signed_rank_test("MCM shrunk", "MCM"),
        signed_rank_test("MCM", "SVM"),
        signed_rank_test("MCM, rho > 0", "SVM"),
        signed_rank_test("MCM, rho > 0", "MCM"),
        signed_rank_test("MCM conformal", "SVM"),
        signed_rank_test("MCM conformal, published", "MCM, published"),
        signed_rank_test("MCM, published", "SVM"),
        signed_rank_test("MCM conformal, published", "SVM"),
        signed_rank_test("MCM, published", "MCM"),
    ),
    paper_claims=(
        PaperClaim(
            "MCM, abstract",
            "The MCM is as accurate as an SVM, or more accurate.",
            settle.comparable_to_svm,
        ),
        PaperClaim(
            "MCM, Section 6.1",
            "The conformal kernel improves the accuracy consistently over the data sets of Table 2.",
            settle.conformal_gains_in_table_2,
        ),
        PaperClaim(
            "MCM, Section 6.1",
            "Wilcoxon's signed-rank test of the improvements gives p = 3.7e-05 (our reading: those of the conformal "
            "kernel in Table 2; the paper does not say).",
            settle.printed_test,
        ),
    ),
)

MIXED = "the printed column mixes counts and accuracies: most of its means are near the accuracies of Table 2"
TABLE_3 = Table(
    "mcm-table-3",
    "MCM, Table 3: number of support vectors on the small data sets",
    SMALL,
    rows=SMALL_SETS,
    columns=(
        Edge("MCM conformal", method="MCM conformal", metric="vectors", digits=1),
        Edge("SVM", method="SVC", metric="vectors", digits=1),
        Edge("MCM", method="MCM", metric="vectors", digits=1),
        Edge("MCM, rho > 0", method="MCM, rho > 0", metric="vectors", digits=1),
        Edge("MCM shrunk", method="MCM shrunk", metric="vectors", digits=1),
        Edge("conformal, with cores", method="MCM conformal", metric="with cores", digits=1),
        Edge("shrunk, with cores", method="MCM shrunk", metric="with cores", digits=1),
        Edge("MCM, published", method="MCM, published", metric="vectors", digits=1),
        Edge("conformal, published", method="MCM conformal, published", metric="vectors", digits=1),
        Edge("conformal, published, with cores", method="MCM conformal, published", metric="with cores", digits=1),
        Edge("published, % of rows", method="MCM, published", metric="% of rows", digits=0),
    ),
    printed=printed_figures(
        """
        Ionosphere                   | 74.00 ± 6.40    | 89.62 ± 2.14
        Promotors                    | 38.60 ± 5.98    | 79.89 ± 8.70
        Mammographic Masses          | 173.00 ± 333.29 | 120.51 ± 93.35
        Bands                        | 102.60 ± 44.12  | 112.86 ± 94.74
        SONAR                        | 61.40 ± 18.96   | 87.76 ± 21.48
        Wholesale Customers          | 38.20 ± 11.58   | 85.36 ± 12.07
        Seed                         | 17.40 ± 6.47    | 82.95 ± 34.94
        Blogger                      | 14.40 ± 4.39    | 67.37 ± 9.52
        Indian Liver Patient Dataset | 5.60 ± 12.52    | 91.39 ± 44.89
        Blood Transfusion            | 11.80 ± 3.03    | 112.06 ± 86.20
        Tic Tac Toe                  | 71.60 ± 36.17   | 144.29 ± 193.37
        Pima Indians                 | 30.20 ± 7.50    | 129.05 ± 125.42
        Heart Statlog                | 53.00 ± 29.30   | 93.20 ± 15.14
        Habermann's Survival         | 10.00 ± 8.40    | 82.01 ± 15.32
        Hepatitis                    | 19.40 ± 15.45   | 76.28 ± 19.46
        ECG                          | 37.40 ± 10.26   | 78.62 ± 23.22
        Congressional Voting Records | 81.40 ± 25.86   | 89.94 ± 15.67
        Horsecolic                   | 67.00 ± 28.00   | 86.72 ± 10.51
        Australian                   | 98.60 ± 41.04   | 134.07 ± 113.67
        Australian Credit Approval   | 16.00 ± 24.99   | 125.64 ± 137.35
        German Credit                | 122.40 ± 46.44  | 143.42 ± 167.36
        Breast Cancer (W)            | 72.20 ± 22.58   | 98.93 ± 3.20
        Planning Relax               | 34.40 ± 29.04   | 76.49 ± 6.48
        Housevotes                   | 61.80 ± 6.57    | 89.50 ± 17.91
        Balance                      | 7.40 ± 0.89     | 90.34 ± 13.91
        Ecoli                        | 9.20 ± 6.83     | 85.20 ± 32.97
        Glass                        | 27.00 ± 9.57    | 88.70 ± 24.41
        """,
        ["MCM conformal", "SVM"],
    ),
    doubts=BY_ROW | {("", "SVM"): MIXED},
    notes=(
        NESTED,
        AS_PUBLISHED,
        "The paper's Table 3 has no column for the MCM without a conformal kernel. To predict, a conformal kernel "
        "needs its own support vectors and the *cores* of its factor r, which are the support vectors of a first "
        "machine. Columns “with cores” count both. A machine without support vectors predicts a single class; one is "
        "added to each count before ratios are taken. The last column is the share of the training rows that are "
        "support vectors of the published machine without a conformal kernel.",
    ),
    claims=(
        share("MCM", "SVM", "support vectors", 0.12),
        share("MCM, rho > 0", "SVM", "support vectors"),
        share("conformal, with cores", "SVM", "support vectors", 0.12),
        share("shrunk, with cores", "SVM", "support vectors", 0.12),
        share("MCM, published", "SVM", "support vectors"),
        share("conformal, published, with cores", "SVM", "support vectors"),
    ),
    paper_claims=(
        PaperClaim(
            "MCM, Sections 1 and 6.1",
            "The MCM has 3 to 10 times fewer support vectors than an SVM.",
            settle.fewer_vectors,
        ),
        PaperClaim(
            "MCM, Sections 1 and 4",
            "On some data sets, the MCM has more than 100 times fewer support vectors than an SVM.",
            settle.sometimes_far_fewer,
        ),
        PaperClaim(
            "MCM, Section 1",
            "The conformal kernel makes the machine sparser.",
            settle.conformal_is_sparser,
        ),
        PaperClaim(
            "MCM, Section 7",
            "The MCM stays sparse with a conformal kernel.",
            settle.conformal_is_sparse,
        ),
        PaperClaim(
            "MCM, Section 4",
            "The linear program (8) to (11) has few support vectors, so that all of them can be cores.",
            settle.published_program_is_sparse,
        ),
    ),
)

WITH_SAMPLE_NUMBER = (
    "LIBSVM's file has the sample number as a tenth feature; ours has nine features, and the missing values in its 699 "
    "rows are filled in"
)
SPLIT_NOT_FOUND = "not available: its rows were drawn from a9a, but we could not find out which ones"
TABLE_4 = Table(
    "mcm-table-4",
    "MCM, Table 4: accuracy (%) of the large-scale machine",
    LARGE,
    rows=tuple(
        Edge(title, not_run=SPLIT_NOT_FOUND)
        if title in ("a3a", "a4a", "a8a")
        else Edge(title, data=MCM_LARGE[title].name)
        for title in (
            "w4a",
            "diabetes",
            "breast-cancer",
            "australian",
            "german-numer",
            "fourclass",
            "a3a",
            "a4a",
            "a8a",
            "a9a",
            "EEG Eye State",
            "HTRU2",
            "MAGIC Gamma Telescope",
            "phishing",
            "Default of Credit Card Clients",
        )
    ),
    columns=(
        Edge("LS MCM", method="LS MCM", metric="accuracy"),
        Edge("LS Conf MCM", method="LS Conf MCM", metric="accuracy"),
        Edge("LS shrunk MCM", method="LS shrunk MCM", metric="accuracy"),
        Edge("LS MCM, published", method="LS MCM, published", metric="accuracy"),
        Edge("LS Conf MCM, published", method="LS Conf MCM, published", metric="accuracy"),
        Edge("vectors, LS MCM", method="LS MCM", metric="vectors", digits=0),
        Edge("vectors, LS Conf MCM", method="LS Conf MCM", metric="vectors", digits=0),
    ),
    printed=printed_figures(
        """
        w4a                            | 97.39 | 97.40
        diabetes                       | 76.62 | 75.97
        breast-cancer                  | 96.35 | 97.08
        australian                     | 81.16 | 83.33
        german-numer                   | 71.50 | 71.50
        fourclass                      | 98.84 | 98.84
        a3a                            | 84.16 | 84.18
        a4a                            | 84.44 | 84.46
        a8a                            | 84.83 | 84.86
        EEG Eye State                  | 78.77 | 78.70
        HTRU2                          | 98.04 | 98.04
        MAGIC Gamma Telescope          | 87.40 | 87.51
        phishing                       | 94.93 | 94.93
        Default of Credit Card Clients | 80.46 | 80.52
        """,
        ["LS MCM", "LS Conf MCM"],
    ),
    doubts={("breast-cancer", ""): WITH_SAMPLE_NUMBER},
    notes=(
        "The test part is a fifth of the rows (random_state 42, 43, 44; only 42 if the test part is above 2,000 "
        "rows). A fifth of the training rows (of at most 4,000 of them) is used to choose among six grid points (mu "
        "and C, or, for the published machines, C and gamma). Conformal machines then choose among six gamma_c from "
        "1e-8 to 100 at the best of these points, as in the paper. The machine is then fitted on all training rows.",
        "“Published” is `planewise.published.ls_mcm` and `ls_mcm_conformal`: no penalty mu, the map is not learned, "
        "the classes have equally many cores, and the factor is found before the descent is repeated with it. The "
        "paper does not give its values of C and gamma.",
        "w4a is the LIBSVM file w8a, which has the same total number of rows. a9a, from which a3a, a4a and a8a were "
        "drawn, is our addition, and does not count in the verdict on the paper's claim. The rows of EEG Eye State "
        "come from one recording, so random splits leak information. The phishing data contain repeated rows.",
    ),
    claims=(
        signed_rank_test("LS Conf MCM", "LS MCM"),
        signed_rank_test("LS shrunk MCM", "LS MCM"),
        signed_rank_test("LS Conf MCM, published", "LS MCM, published"),
        signed_rank_test("LS MCM, published", "LS MCM"),
    ),
    paper_claims=(
        PaperClaim(
            "MCM, Section 6.1",
            "On large data sets, the conformal kernel improves the accuracy or leaves it comparable on 12 of 14.",
            settle.large_scale_gains,
        ),
    ),
)

FORMS = ("plain, mu=0", "signed, mu=0", "printed, mu=0", "plain, mu=1e-06", "signed, mu=1e-06")
FORMS += ("plain, mu=0.0001", "signed, mu=0.0001")
CONFORMAL_GAIN = Table(
    "mcm-conformal",
    "MCM: what the conformal kernel gains, by penalty, choice and file",
    CONFORMAL,
    rows=tuple(Edge(title, data=data.name) for title, data in MCM_CONFORMAL.items()),
    columns=(
        *(Edge(form, method=form, metric="accuracy") for form in FORMS),
        *(Edge(f"{form}, on test", method=form, metric="on test") for form in FORMS),
        *(
            Edge(f"{form}, as many points", method=form, metric="best, mean of gamma_c")
            for form in FORMS
            if form.startswith("signed")
        ),
        *(Edge(f"{form}, lost", method=form, metric="best less average") for form in FORMS[:2]),
        Edge("SVC, lost", method="SVC, wide grid", metric="best less average"),
        Edge("training separability", method="signed, mu=0", metric="training separability"),
        Edge("held-out separability", method="signed, mu=0", metric="held-out separability"),
    ),
    digits=1,
    notes=(
        "Accuracy (%) of the published machines (Algorithms 1 and 2) on ten small data sets, with the penalty mu on "
        "lambda that they do not have set to 0, 1e-6 and 1e-4. “Plain” has no conformal kernel; “signed” has the "
        "factor r of the paper with 1/M_c; “printed” has equations 13 to 15 with 1/M, as they are printed. The grids "
        "are the paper's, thinned to 4 C, 3 gamma and 3 gamma_c.",
        "Each outer fold is tested once with the point that is best on three folds of its training part and once, in "
        "the columns “on test”, with the point that is best on the test fold itself, as the paper chose. A conformal "
        "machine has three times as many points to choose from, one set for each gamma_c, and its best one is higher "
        "for that reason alone: “as many points” is the mean, over gamma_c, of the best point of each set, and only "
        "this counts in the verdict. “Lost” is how far an average point of a set is behind the best one of the set on "
        "the test fold, averaged over gamma_c. The SVC has a grid of its own, as large and with the same factors "
        "between values (2^6 and 2^8 for C, 4 for gamma), in the middle of the range that LIBSVM's guide recommends.",
        "Equation 15 cannot be solved as it is printed: its eigenvectors have one number for each row, and equation 17 "
        "needs one for each core. The quadratic forms of the cores are used instead, in “signed” and in “printed”.",
        "Raw files are as the authors' seem to have been: with identifiers, with columns that reveal the target, with "
        "text numbered, and in Glass with the row number of a file that is sorted by class. The other four data sets "
        "are the same raw and clean. The 58 rows of ECG that have no target are left out in both.",
        "Separability is the scatter between the classes divided by that within them, with r relative to without, on "
        "the rows of the training part and of the test fold.",
    ),
    claims=(
        *(
            settle.gain_of("signed", mu, chosen, raw)
            for chosen in ("", ", on test", settle.AS_MANY)
            for raw in (False, True)
            for mu in settle.MUS
        ),
        *(settle.gain_of("printed", "0", chosen, raw) for chosen in ("", ", on test") for raw in (False, True)),
    ),
    paper_claims=(
        PaperClaim(
            "MCM, abstract",
            "The conformal kernel improves generalisation.",
            settle.conformal_gains,
        ),
        PaperClaim(
            "MCM, eqs 13 to 15 (as printed)",
            "1/M in all blocks gives a factor r that is as good as one with 1/M_c, the number of rows of the class "
            "(our question).",
            settle.printed_equations,
        ),
        PaperClaim(
            "MCM, Section 6.1",
            "The hyper-parameters need to be finely tuned: more so than those of an SVM (our reading).",
            settle.needs_fine_tuning,
        ),
        PaperClaim(
            "MCM, Section 6.2",
            "The conformal kernel separates the classes better, in training and in test data.",
            settle.separates,
        ),
    ),
)

TABLES = (TABLE_1, TABLE_2, TABLE_3, TABLE_4, CONFORMAL_GAIN)
