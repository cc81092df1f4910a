"""How estimators show themselves in notebooks: scikit-learn's diagram, and below it what was learned."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from planewise.explain.describe import Description, Limits, basic_facts, changed_parameters


class ShownInNotebooks:
    """A mixin, to stand before ``BaseEstimator``: once fitted, a summary follows scikit-learn's diagram.

    Whether there is HTML at all stays scikit-learn's to say (``set_config(display=...)``), and inside of a pipeline an
    estimator is a box of the pipeline's diagram as any other.
    """

    def describe(self, limits: Limits | None = None) -> Description:
        """What the fitted model is, in words and tables.

        Parameters
        ----------
        limits : planewise.explain.Limits, default=None
            How much of it is shown.

        Returns
        -------
        description : planewise.explain.Description
            Its ``to_text()`` is what :func:`planewise.export.to_text` writes.
        """
        check_is_fitted(self)
        about = Description(type(self).__name__, basic_facts(self))
        self._describe(about, limits or Limits())
        about.sections.append(changed_parameters(self))
        return about

    def _describe(self, about: Description, limits: Limits) -> None:
        """Add what the family knows."""

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
    from planewise.report.notebook import summary_html  # reports know estimators, not the other way round

    return summary_html(estimator)
