"""The review page: a person decides, with the deciding view before their eyes."""

from planewise._extras import require

for package in ("fastapi", "jinja2"):
    require("The review page", package, "app")

from planewise.app._create import create_app  # noqa: E402
from planewise.app._export import labels  # noqa: E402
from planewise.app._records import AnswersFileError  # noqa: E402

__all__ = ["AnswersFileError", "create_app", "labels"]
