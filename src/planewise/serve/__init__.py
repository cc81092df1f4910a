"""A model as an HTTP service: rows in JSON come in, predictions, probabilities and reasons go out.

``planewise.serve.server`` serves it.
"""

from planewise import _extras

_extras.require_all("The scoring service", ("fastapi", "polars"), "app")

from planewise.serve._create import create_app  # noqa: E402
from planewise.serve._limits import Limits  # noqa: E402

__all__ = ["Limits", "create_app"]
