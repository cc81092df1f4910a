"""A graph of ONNX, node by node."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._optional import require

OPSET, ML_OPSET, IR_VERSION = 21, 5, 10  # ONNX 1.16; onnxruntime runs it from 1.20 on


def onnx_package() -> Any:
    """The package, or an error that names what to install."""
    return require("to_onnx", "onnx", "export")


class Graph:
    """Collects nodes and constants; `add` returns the name of its output."""

    def __init__(self) -> None:
        self.onnx = onnx_package()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def add(self, kind: str, *inputs: str, domain: str = "", name: str | None = None, **attributes: Any) -> str:
        """One node with one output."""
        output = name or f"{kind.lower()}_{len(self.nodes)}"
        node = self.onnx.helper.make_node(kind, list(inputs), [output], domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def constant(self, values: Any, kind: Any = np.float64) -> str:
        """A constant tensor."""
        name = f"constant_{len(self.constants)}"
        array = np.asarray(values, dtype=kind)
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def cast(self, given: str, kind: str) -> str:
        """The same values in another type: "FLOAT", "DOUBLE", "INT64"."""
        return self.add("Cast", given, to=getattr(self.onnx.TensorProto, kind))

    def label(self, place: str, classes: NDArray[Any]) -> None:
        """The output "label": the classes at these places."""
        proto = self.onnx.TensorProto
        if classes.dtype.kind == "b":
            kind, table = proto.BOOL, self.constant(classes, np.bool_)
        elif classes.dtype.kind in "iu" and int(classes.max()) < 2**63:
            kind, table = proto.INT64, self.constant(classes, np.int64)
        elif classes.dtype.kind == "f":
            kind, table = proto.DOUBLE, self.constant(classes, np.float64)
        else:
            kind, table = proto.STRING, self.constant([_unicode(str(each)) for each in classes.tolist()], object)
        self.add("Gather", table, place, name="label")
        self.outputs.append(self.onnx.helper.make_tensor_value_info("label", kind, ["N"]))

    def number_output(self, name: str, given: str, width: int) -> None:
        """An output of floats, from doubles."""
        self.add("Cast", given, to=self.onnx.TensorProto.FLOAT, name=name)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, self.onnx.TensorProto.FLOAT, ["N", width]))

    def model(self, model: Any, version: str) -> Any:
        """The finished model, checked; what a user needs to know beside it is in its metadata."""
        helper = self.onnx.helper
        kind = getattr(self.onnx.TensorProto, model.input_type.upper())
        rows = helper.make_tensor_value_info("X", kind, ["N", len(model.input_names)])
        graph = helper.make_graph(self.nodes, model.kind, [rows], self.outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        about_it = f"{model.kind} of planewise. X: {model.input_type} rows, columns in the order of feature_names."
        if model.remark:
            about_it += f" The model was {model.remark}."
        made = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=IR_VERSION,
            producer_name="planewise",
            producer_version=version,
            doc_string=about_it,
        )
        names = model.input_names
        about = {
            "feature_names": names,
            "classes": None if model.classes is None else [_plain(each) for each in model.classes.tolist()],
            "categories": {
                names[j]: [_plain(each) for each in known.tolist()] for j, known in model.categories.items()
            },
            "units": {names[j]: unit for j, unit in model.units.items()},
            "remark": model.remark,
        }
        helper.set_model_props(made, {name: json.dumps(value) for name, value in about.items() if value})
        self.onnx.checker.check_model(made)
        return made


def _unicode(label: str) -> str:
    try:
        label.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"The class label {label!r} is not valid Unicode, as strings in ONNX have to be; rename the class and fit "
            "again."
        ) from None
    return label


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str)) else str(value)
