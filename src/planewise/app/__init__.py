"""The review page: a person decides, with the deciding view before their eyes."""

try:
    import fastapi  # noqa: F401
    import jinja2  # noqa: F401
except ImportError as error:
    raise ModuleNotFoundError(
        f"{error.name} is missing; the review page needs: pip install 'planewise[app]'", name=error.name
    ) from None

from planewise.app._create import create_app
from planewise.app._export import labels
from planewise.app._records import AnswersFileError

__all__ = ["AnswersFileError", "create_app", "labels"]
