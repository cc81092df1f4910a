"""The review page: a person decides, with the deciding view before their eyes."""

from planewise import _extras

_extras.require_all("The review page", ("fastapi", "jinja2"), "app")

from planewise.app._create import create_app  # noqa: E402
from planewise.app._export import labels  # noqa: E402
from planewise.app._records import AnswersFileError  # noqa: E402

__all__ = ["AnswersFileError", "create_app", "labels"]
