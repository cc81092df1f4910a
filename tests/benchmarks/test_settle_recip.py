"""The rules that settle the RECIP paper's claims: what they say follows from the figures."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.reproduce import settle_recip
from benchmarks.reproduce.batches import batch_data, drawn
from benchmarks.reproduce.declaration import VERDICTS
from benchmarks.reproduce.results import Entry, Results
from benchmarks.reproduce.tables import recip

CLAIMS = [(table, claim) for table in recip.TABLES for claim in table.paper_claims]
MAIN = "holds when only the main views are kept"
DRAWS = np.array([-0.001, 0.0, 0.001])


def filled(table, value):
    """The table with one figure per cell: value(row title, column title), or several of them."""
    entries = {}
    for row in table.rows:
        for column in table.columns:
            figures = () if row.not_run or column.not_run else value(row.title, column.title)
            figures = tuple(np.atleast_1d(figures).astype(float))
            place = row.title, column.title
            entries[place] = Entry(
                row, column, table.printed.get(place), figures, tuple(range(len(figures))), "", "", table.digits
            )
    return Results(table, entries, 1, 1)


def settled(table, claim, value):
    """What a claim of a table is settled as; the claim is named by a part of it."""
    (settle,) = [each.settle for each in table.paper_claims if claim in each.claim]
    found = settle(filled(table, value))
    assert found.evidence.endswith(".") and "nan" not in found.evidence
    return found


def words(table, claim, value):
    return settled(table, claim, value).words


def by_views(used, main):
    """A figure for the published rows and another for the main views, in rows or columns."""
    return lambda row, column: main if "main views" in row + column else used


@pytest.mark.parametrize(("table", "claim"), CLAIMS, ids=[claim.claim for _, claim in CLAIMS])
def test_every_claim_is_settled_whatever_the_figures(table, claim):
    random = np.random.default_rng(0)
    for high in (1.0, 100.0):
        found = claim.settle(filled(table, lambda row, column, high=high: random.uniform(0.01, high, 3)))
        assert found.verdict in VERDICTS[:4]
        assert found.evidence.endswith(".") and "nan" not in found.evidence


def test_a_claim_about_printed_figures_says_so():
    ours = [claim.where for _, claim in CLAIMS if "Table" in claim.where]
    assert ours and all(where.endswith("(printed figures)") for where in ours)


def test_tried_values_are_a_condition_in_words():
    def say(*good):
        return settle_recip._in_words("lam", {lam: lam in good for lam in (3.0, 5.0, 7.0, 9.0)})

    assert say(9) == "lam is 9" and say(7, 9) == "lam is 7 or more" and say(3, 5) == "lam is 5 or less"
    assert say(5, 7) == "lam is 5 to 7" and say(3, 7, 9) == "lam is 3, 7 or 9"


def test_precision_holds_by_the_printed_rule_or_for_the_main_views():
    claim = recip.TABLE_1, "Precision is nearly perfect"
    assert words(*claim, by_views(1.0, 1.0)) == "holds"
    assert words(*claim, by_views(0.2, 1.0)) == MAIN
    assert words(*claim, by_views(0.2, 0.9)) == "does not hold"
    assert words(*claim, by_views(1.0, 0.2)) == "holds"


def test_accuracy_must_fall_with_batches_and_with_noise():
    def falling(row, column):
        return 1 - 0.05 * int(row[-1]) - float(column.split()[-1])

    def unless(kind, what):
        def figures(row, column):
            if kind not in row:
                return falling(row, column)
            return falling("q=1", column) if what == "batches" else falling(row, "noise 0")

        return figures

    claim = recip.TABLE_2, "Accuracy falls"
    assert words(*claim, falling) == "holds"
    assert words(*claim, unless("RECIP", "batches")) == MAIN
    assert words(*claim, unless("RECIP", "noise")) == MAIN
    assert words(*claim, unless("q=", "noise")) == "does not hold"


def test_recall_must_fall_to_three_or_four_of_seven_and_it_is_said_at_which_lam():
    def figures(used=(), main=(), low=0.5):
        def value(row, column):
            falls = used if column.startswith("any row") else main
            return low if column.endswith("recall, q=7") and settle_recip._last_number(row) in falls else 1.0

        return value

    claim = recip.LAM_TABLE, "Recall is nearly perfect"
    assert words(*claim, figures(used=recip.LAMS)) == "holds"
    assert words(*claim, figures(used=(9.0,))) == "holds when lam is 9"
    assert words(*claim, figures(main=recip.LAMS)) == MAIN
    assert words(*claim, figures(main=(12.0, 15.0))) == f"{MAIN} and lam is 12 or more"
    assert words(*claim, figures()) == "does not hold"
    assert words(*claim, figures(main=recip.LAMS, low=0.75)) == "does not hold"  # five of seven
    assert words(*claim, figures(main=recip.LAMS, low=0.2)) == "does not hold"  # one of seven
    assert "found at lam = 3 and 5" in settled(*claim, figures(main=recip.LAMS[2:])).evidence
    assert "is no evidence" in settled(*claim, figures()).evidence


def test_all_alphas_have_the_same_multiples_of_lam():
    lams = {alpha: [recip.same_penalty(lam, alpha) for lam in recip.LAMS] for alpha in recip.ALPHAS}
    assert lams[0.5] == list(recip.LAMS)
    np.testing.assert_allclose(np.array(lams[0.9]) * 25, recip.LAMS)
    np.testing.assert_allclose(np.array(lams[0.99]) * 2500, recip.LAMS)
    assert len(recip.LAM.methods) == len(recip.ALPHAS) * len(recip.LAMS)


def test_an_alpha_close_to_1_must_reach_the_printed_recall():
    def figures(*reached):
        def value(row, column):
            printed = recip.LAM_TABLE.printed.get((row, column))
            off = 0.0 if any(row.startswith(f"alpha = {alpha:g},") for alpha in reached) else 0.3
            return (printed.mean if printed else 1.0) + off + DRAWS

        return value

    claim = recip.LAM_TABLE, "Alpha is a value close to 1"
    assert words(*claim, figures(0.5, 0.9, 0.99)) == "holds"
    assert words(*claim, figures(0.99)) == "holds when alpha is 0.99"
    assert words(*claim, figures(0.5)) == "does not hold"


def test_the_lasso_keeps_or_finds_one_view_at_every_penalty_or_from_one_on():
    shares = (*recip.SHARES, *recip.STRONG_SHARES)

    def figures(*ones, draws=(1.0, 1.0, 1.0)):
        return lambda row, column: draws if row in [f"lasso, {share:g}" for share in ones] else (3.0, 1.0, 0.0)

    for claim in ("finds one view for all data", "recovers only one informative view"):
        of = recip.LASSO_TABLE, claim
        assert words(*of, figures(*shares)) == "holds"
        assert words(*of, figures(0.9, 0.99, 0.999)).startswith("holds when the penalty is at least 0.99 of the small")
        assert words(*of, figures(0.03, 0.9)) == "does not hold"
        assert words(*of, figures()) == "does not hold"
        # a mean of one is not exactly one in every draw
        assert words(*of, figures(*shares, draws=(0.0, 1.0, 2.0))) == "does not hold"


def test_lassos_and_recip_are_compared_with_as_many_penalties_and_views():
    rows = [row.title for row in recip.LASSO_TABLE.rows]
    kinds = ("lasso, t, ", "robust lasso, t, ", "RECIP, lam", "RECIP, main views, lam")
    assert {sum(row.startswith(kind) for row in rows) for kind in kinds} == {len(recip.SHARES_WITH_T)}

    def figures(lasso, robust, used, main):
        figure = dict(zip(kinds, (lasso, robust, used, main), strict=True))
        # a lasso that keeps every view is not compared
        return lambda row, column: next((figure[kind] for kind in kinds if row.startswith(kind)), 0.99)

    claim = recip.LASSO_TABLE, "robust lasso is better"
    assert words(*claim, figures(0.6, 0.7, 0.8, 0.9)) == "holds"
    assert words(*claim, figures(0.6, 0.7, 0.65, 0.9)) == "holds when only RECIP's main views are kept"
    assert words(*claim, figures(0.6, 0.7, 0.65, 0.65)) == "does not hold"
    assert words(*claim, figures(0.75, 0.7, 0.8, 0.9)) == "does not hold"


def test_selection_must_beat_voting_everywhere():
    def figures(row, column):
        return 0.6 if column.startswith("voting") else 0.9

    def but(rows, *columns):
        return lambda row, column: 0.5 if row in rows and column in columns else figures(row, column)

    rows = [row.title for row in recip.COMPARED_TABLE.rows]
    claim = recip.COMPARED_TABLE, "Choosing one view per query"
    assert words(*claim, figures) == "holds"
    assert words(*claim, but(rows, "RECIP, main views")) == "holds"
    assert words(*claim, but(rows, "RECIP")) == MAIN
    assert words(*claim, but(["q=2, noise 0"], "known")) == "holds in part"
    assert words(*claim, but(rows, "RECIP", "known")) == "does not hold"


def test_neighbours_are_worse_with_few_batches_and_improve_by_more_than_two_standard_errors():
    def figures(used, main, rise, spread=0.001):
        def value(row, column):
            if column != "KNN":
                return {"RECIP": used, "RECIP, main views": main}.get(column, 0.5)
            return 0.7 + rise * int(row[2]) / 7 + spread * np.array([-1.0, 0.0, 1.0])

        return value

    claim = recip.COMPARED_TABLE, "KNN on all features"
    assert words(*claim, figures(0.9, 0.9, 0.02)) == "holds"
    assert words(*claim, figures(0.5, 0.9, 0.02)) == MAIN
    assert words(*claim, figures(0.5, 0.5, 0.02)) == "does not hold"
    assert words(*claim, figures(0.9, 0.9, -0.02)) == "does not hold"
    assert words(*claim, figures(0.9, 0.9, 0.02, spread=0.05)) == "does not hold"


def test_known_votes_are_judged_by_each_number_of_batches():
    printed = recip.KNOWN_TABLE.printed

    def figures(**off):
        def value(row, column):
            figure = printed[row, column]
            shift = off.get("once", 0.0) if column != "each batch's pair" else off.get("batch", 0.0)
            sign = -1 if off.get("both_ways") and row in ("q=4", "q=6") else 1
            return figure.mean + sign * shift + DRAWS

        return value

    claim = recip.KNOWN_TABLE, "Known views that vote"
    shared = "holds when a pair that several batches share votes once for each of them"
    assert words(*claim, figures()) == "holds"
    assert words(*claim, figures(once=-0.1)) == shared
    assert words(*claim, figures(once=-0.1, batch=-0.1)) == "does not hold"
    # differences that cancel on average are differences
    assert words(*claim, figures(once=-0.1, batch=-0.1, both_ways=True)) == "does not hold"


def test_a_larger_d_must_change_neither_recall_nor_accuracy():
    def figures(*changed):
        """What changes with d = 3: (main views?, lam)."""

        def value(row, column):
            kind = "main views" in column, settle_recip._last_number(column)
            return 0.5 if "d = 3" in column and kind in changed else 0.9

        return value

    claim = recip.D_TABLE, "d above 2"
    used = (False, 5.0), (False, 9.0)
    assert words(*claim, figures()) == "holds"
    assert words(*claim, figures((False, 9.0))) == "holds when lam is 5"
    assert words(*claim, figures(*used)) == MAIN
    assert words(*claim, figures(*used, (True, 9.0))) == f"{MAIN} and lam is 5"
    assert words(*claim, figures(*used, (True, 5.0), (True, 9.0))) == "does not hold"


def test_it_runs_on_100_features_whatever_it_finds():
    claim = recip.WIDE_TABLE, "100 features"
    assert words(*claim, lambda row, column: 1.0) == "holds"
    assert words(*claim, lambda row, column: 5.0 if column.startswith("kept") else 0.1) == "holds"
    assert words(*claim, lambda row, column: 0.0) == "does not hold"


def test_recip_is_near_nearest_neighbours_within_the_largest_printed_gap():
    def figures(used, main):
        gap = {"RECIP": used, "RECIP, main views": main}
        return lambda row, column: 80.0 - gap.get(column, 0.0)

    claim = recip.TABLE_3, "slightly, but not substantially"
    assert words(*claim, figures(4.0, 0.0)) == "holds"
    assert words(*claim, figures(8.0, 4.0)) == MAIN
    assert words(*claim, figures(8.0, 8.0)) == "does not hold"


def test_neighbours_must_beat_the_forest_by_more_than_two_standard_errors():
    def figures(gain, spread):
        return lambda row, column: 90 + gain * (column == "KNN") + spread * (column == "KNN") * DRAWS * 1000

    claim = recip.TABLE_3, "random forests"
    assert words(*claim, figures(3.0, 0.5)) == "holds"
    assert words(*claim, figures(3.0, 5.0)) == "does not hold"
    assert words(*claim, figures(-3.0, 0.5)) == "does not hold"


def test_the_views_of_vowel_are_judged_by_the_published_rows():
    for claim in ("views of one feature if d is limited", "view of all features if d is not limited"):
        assert words(recip.VOWEL_TABLE, claim, by_views(99.0, 20.0)) == "holds"
        assert words(recip.VOWEL_TABLE, claim, by_views(20.0, 99.0)) == MAIN
        assert words(recip.VOWEL_TABLE, claim, by_views(20.0, 20.0)) == "does not hold"


def only(published=(), main=(), good=100.0, bad=0.0):
    """Figures of Spam that are good at these lam, on columns as they are."""

    def value(row, column):
        titles = [f"lam = {lam}" for lam in published] + [f"main views, lam = {lam}" for lam in main]
        return good if row in titles else bad

    return value


def test_spam_has_the_papers_views_only_if_they_are_the_first_two():
    claim = recip.SPAM_TABLE, "two most informative views are"
    assert words(*claim, only((1, 3, 9))) == "holds"
    assert words(*claim, only((1,))) == "holds when lam is 1"
    assert words(*claim, only((), (1, 3, 9))) == MAIN
    kept = settled(*claim, lambda row, column: 0.0 if column == "both are the first two" else 100.0)
    assert kept.words == "does not hold" and "kept at all in 100, 100, 100%" in kept.evidence


def test_rows_that_select_figure_1_must_be_right_and_there_must_be_some():
    def figures(right):
        """Of 20% of the test rows, by lam, so many are right; None: no row is there."""

        def value(row, column):
            share = right.get(row)
            if share is None:
                return 0.0
            return 20.0 if column.startswith("rows") else 0.2 * share

        return value

    claim = recip.SPAM_TABLE, "almost flawlessly"
    assert words(*claim, figures({f"lam = {lam}": 99.0 for lam in (1, 3, 9)})) == "holds"
    assert words(*claim, figures({"lam = 1": 99.0, "lam = 3": 80.0})) == "holds when lam is 1"
    assert words(*claim, figures({"lam = 1": 80.0, "main views, lam = 1": 99.0})) == f"{MAIN} and lam is 1"
    for nobody in (settled(*claim, figures({})), settled(*claim, lambda row, column: np.nan)):
        assert nobody.words == "does not hold" and "none selects them" in nobody.evidence


def test_the_accuracy_on_spam_is_that_of_recips_own_views():
    def figures(own, known):
        return lambda row, column: np.array([-0.7, 0.7]) + (known if row == "known" else own)

    claim = recip.SPAM_TABLE, "76.8%"
    assert words(*claim, figures(76.8, 60.0)) == "holds"
    assert words(*claim, figures(85.0, 76.8)) == "holds when only the two views of Figure 1 are used"
    assert words(*claim, figures(85.0, 85.0)) == "does not hold"


def test_a_share_of_the_penalty_reaches_the_lasso_as_a_penalty():
    rows = drawn(batch_data(1, 0.0), 0)
    shares = {method.name: method for method in recip.LASSO.methods if "share" in method.fixed}
    kept = {
        name: recip.LASSO.protocol.run(batch_data(1, 0.0), shares[name], 0, None)["kept"]
        for name in ("lasso, 0.1", "lasso, 0.999", "lasso, t, 0.1", "robust lasso, t, 0.1")
    }
    assert kept["lasso, 0.1"] > kept["lasso, 0.999"] == 1
    assert kept["lasso, t, 0.1"] == kept["robust lasso, t, 0.1"] == len(rows.pairs) == 1
