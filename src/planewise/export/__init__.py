"""Export models to C, ONNX and text."""

from planewise.export.c import to_c
from planewise.export.onnx import to_onnx
from planewise.export.text import to_text

__all__ = ["to_c", "to_onnx", "to_text"]
