"""How estimators show themselves in notebooks: scikit-learn's diagram, and below it what was learned."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


class ShownInNotebooks:
    """A mixin, to stand before ``BaseEstimator``: once fitted, a summary follows scikit-learn's diagram.

    Whether there is HTML at all stays scikit-learn's to say (``set_config(display=...)``), and inside of a pipeline an
    estimator is a box of the pipeline's diagram as any other.
    """

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + _summary(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **given: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**given)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += _summary(self)
        return bundle


def _summary(estimator: Any) -> str:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return ""
    from planewise.report._estimator_html import summary_html  # reports know estimators, not the other way round

    return summary_html(estimator)
