"""Model files that can run no code."""

from planewise.io._errors import ModelFileError
from planewise.io._models import load, save

__all__ = ["ModelFileError", "load", "save"]
