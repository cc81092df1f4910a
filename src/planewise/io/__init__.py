"""Model files that can run no code."""

from planewise.io._errors import ModelFileError
from planewise.io._models import checksum, load, save, versions
from planewise.io._skops import SKOPS_TRUSTED_TYPES

__all__ = ["SKOPS_TRUSTED_TYPES", "ModelFileError", "checksum", "load", "save", "versions"]
