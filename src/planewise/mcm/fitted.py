"""What fitted machines consist of, for the packages that save, export and explain them."""

from planewise._scaling import TAIL_FACTOR, Scaling, ScalingToFloat32
from planewise.mcm._conformal_factor import ConformalFactor
from planewise.mcm._feature_maps import KernelMap, PrototypeMap
from planewise.mcm._kernels import KERNEL_NAMES, Kernel
from planewise.mcm._plain import Bumps, PlainMachine, plain_machine
from planewise.mcm._preparation import MISSING, NUMBER, Preparation, PreparedScaling
from planewise.mcm._scores import class_scores, probabilities
from planewise.mcm.exact._settings import Settings
from planewise.mcm.large._classifier import SETTLED_AT_FIRST
from planewise.mcm.large._descent import Learner, LinearModel

__all__ = [
    "KERNEL_NAMES",
    "MISSING",
    "NUMBER",
    "SETTLED_AT_FIRST",
    "TAIL_FACTOR",
    "Bumps",
    "ConformalFactor",
    "Kernel",
    "KernelMap",
    "Learner",
    "LinearModel",
    "PlainMachine",
    "Preparation",
    "PreparedScaling",
    "PrototypeMap",
    "Scaling",
    "ScalingToFloat32",
    "Settings",
    "class_scores",
    "plain_machine",
    "probabilities",
]
