"""The review page: a person accepts or overrides a model's predictions, with their explanations in view.

``planewise.app.server`` serves it.
"""

from planewise import _extras

_extras.require_all("The review page", ("fastapi", "jinja2"), "app")

from planewise.answers import AnswersFileError  # noqa: E402
from planewise.app._create import create_app  # noqa: E402
from planewise.app._review import labels, repair, reviewed  # noqa: E402

__all__ = ["AnswersFileError", "create_app", "labels", "repair", "reviewed"]
