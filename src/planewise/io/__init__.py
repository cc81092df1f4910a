"""Model files that can run no code."""

from planewise.io._errors import ModelFileError
from planewise.io._models import checksum, load, model_at_end, save, versions

__all__ = ["ModelFileError", "checksum", "load", "model_at_end", "save", "versions"]
