"""The rules that settle the RECIP paper's claims: what they say follows from the figures."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.reproduce import settle_recip
from benchmarks.reproduce.declaration import VERDICTS
from benchmarks.reproduce.results import Entry, Results
from benchmarks.reproduce.tables import recip

CLAIMS = [(table, claim) for table in recip.TABLES for claim in table.paper_claims]


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


def verdict(settle, table, value):
    return settle(filled(table, value)).verdict


@pytest.mark.parametrize(("table", "claim"), CLAIMS, ids=[claim.claim for _, claim in CLAIMS])
def test_every_claim_is_settled_whatever_the_figures(table, claim):
    random = np.random.default_rng(0)
    for high in (1.0, 100.0):
        settled = claim.settle(filled(table, lambda row, column, high=high: random.uniform(0.01, high, 3)))
        assert settled.verdict in VERDICTS[:3]
        assert settled.evidence.endswith(".") and "nan" not in settled.evidence


def test_precision_holds_by_the_printed_rule_or_in_part_for_the_main_views():
    def figures(printed, main):
        return lambda row, column: main if "main views" in row else printed

    settle = settle_recip.TABLE_1_CLAIMS[0].settle
    assert verdict(settle, recip.TABLE_1, figures(1.0, 1.0)) == "holds"
    assert verdict(settle, recip.TABLE_1, figures(0.2, 1.0)) == "holds in part"
    assert verdict(settle, recip.TABLE_1, figures(0.2, 0.9)) == "does not hold"


def test_recall_must_be_high_for_few_batches_and_fall_for_many():
    def figures(falls):
        return lambda row, column: 0.5 if row.endswith("q=7") and (falls == "all" or falls in row) else 1.0

    settle = settle_recip.TABLE_1_CLAIMS[1].settle
    assert verdict(settle, recip.TABLE_1, figures("all")) == "holds"
    assert verdict(settle, recip.TABLE_1, figures("main views")) == "holds in part"
    assert verdict(settle, recip.TABLE_1, figures("none")) == "does not hold"


def test_overlap_hides_views_only_if_no_penalty_finds_them_all():
    def figures(found):
        return lambda row, column: 0.5 if column == "recall, q=7" and row not in found else 1.0

    settle = settle_recip.LAM_CLAIMS[0].settle
    assert verdict(settle, recip.LAM_TABLE, figures([])) == "holds"
    assert verdict(settle, recip.LAM_TABLE, figures(["alpha = 0.5, lam = 1"])) == "holds in part"
    assert verdict(settle, recip.LAM_TABLE, lambda row, column: 1.0) == "does not hold"


def test_selection_must_beat_voting_everywhere():
    def figures(row, column):
        return 0.6 if column.startswith("voting") else 0.9

    def but_once(row, column):
        return 0.5 if row == "q=2, noise 0" else figures(row, column)

    settle = settle_recip.COMPARED_CLAIMS[0].settle
    assert verdict(settle, recip.COMPARED_TABLE, figures) == "holds"
    assert verdict(settle, recip.COMPARED_TABLE, but_once) == "holds in part"
    assert verdict(settle, recip.COMPARED_TABLE, lambda row, column: 1 - figures(row, column)) == "does not hold"


def test_the_way_of_counting_that_is_nearest_to_the_printed_figures_is_named():
    printed = recip.KNOWN_TABLE.printed

    def figures(row, column):
        mean, spread = printed[row, column].mean, printed[row, column].std
        low = 0.0 if column == "each batch's pair" else 0.05
        return np.array([mean - spread, mean + spread]) - low

    settled = settle_recip.KNOWN_CLAIMS[0].settle(filled(recip.KNOWN_TABLE, figures))
    assert settled.verdict == "holds" and "Nearest: “each batch's pair”, 0.0 standard errors away" in settled.evidence
    far = settle_recip.KNOWN_CLAIMS[0].settle(
        filled(recip.KNOWN_TABLE, lambda row, column: figures(row, "each batch's pair") - 0.1)
    )
    assert far.verdict == "does not hold"


def test_the_lasso_must_find_one_view_at_every_penalty():
    def figures(*ones):
        return lambda row, column: 1.0 if any(row == f"lasso, {share}" for share in ones) else 3.0

    settle = settle_recip.LASSO_CLAIMS[0].settle
    assert verdict(settle, recip.LASSO_TABLE, figures(*recip.SHARES)) == "holds"
    assert verdict(settle, recip.LASSO_TABLE, figures(0.9)) == "holds in part"
    assert verdict(settle, recip.LASSO_TABLE, figures()) == "does not hold"


def test_recip_is_near_nearest_neighbours_within_the_largest_printed_gap():
    def figures(printed, main):
        gap = {"RECIP": printed, "RECIP, main views": main, "RECIP, ours": main}
        return lambda row, column: 80.0 - gap.get(column, 0.0)

    settle = settle_recip.TABLE_3_CLAIMS[0].settle
    assert verdict(settle, recip.TABLE_3, figures(4.0, 0.0)) == "holds"
    assert verdict(settle, recip.TABLE_3, figures(8.0, 4.0)) == "holds in part"
    assert verdict(settle, recip.TABLE_3, figures(8.0, 8.0)) == "does not hold"


def test_spam_has_the_papers_views_among_the_first_or_only_among_the_kept():
    def figures(first, kept):
        return lambda row, column: first if column == "both in first ten" else kept

    settle = settle_recip.SPAM_CLAIMS[0].settle
    assert verdict(settle, recip.SPAM_TABLE, figures(100.0, 100.0)) == "holds"
    assert verdict(settle, recip.SPAM_TABLE, figures(0.0, 100.0)) == "holds in part"
    assert verdict(settle, recip.SPAM_TABLE, figures(0.0, 20.0)) == "does not hold"
    accuracy = settle_recip.SPAM_CLAIMS[2].settle
    assert verdict(accuracy, recip.SPAM_TABLE, lambda row, column: [76.0, 77.5]) == "holds"
    assert verdict(accuracy, recip.SPAM_TABLE, lambda row, column: [85.0, 86.0]) == "does not hold"
