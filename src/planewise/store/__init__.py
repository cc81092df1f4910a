"""Model files, which run no code when they are loaded."""

from planewise.store.errors import ModelFileError
from planewise.store.file import load, save
from planewise.store.skops import SKOPS_TRUSTED_TYPES

__all__ = ["SKOPS_TRUSTED_TYPES", "ModelFileError", "load", "save"]
