"""Models outside Python: C for microcontrollers, ONNX, readable text."""

from planewise.export._c import to_c
from planewise.export._models import input_lines
from planewise.export._onnx import to_onnx
from planewise.export._text import to_text

__all__ = ["input_lines", "to_c", "to_onnx", "to_text"]
