"""The joint dict: many ragged keys that share their nesting from the top down.

`from varlen.joint import *` gives what `from nested_ragged_tensors.ragged_numpy import *` gave, and
JointArrays.
"""

import itertools
import re
import warnings
from pathlib import Path

import numpy as np

from varlen._lazy import loaded_from
from varlen.joint.compat import (
    NESTED_NUM_LIST_T,
    NP_FLOAT_TYPES,
    NP_INT_TYPES,
    NP_UINT_TYPES,
    NUM_LIST_T,
    NUM_T,
    is_ndim_list,
)
from varlen.joint.dense import pprint_dense
from varlen.joint.device_methods import JointArrays
from varlen.joint.joint_dict import JointNestedRaggedTensorDict

__all__ = [
    "NESTED_NUM_LIST_T",
    "NP_FLOAT_TYPES",
    "NP_INT_TYPES",
    "NP_UINT_TYPES",
    "NUM_LIST_T",
    "NUM_T",
    "JointArrays",
    "JointNestedRaggedTensorDict",
    "Path",
    "is_ndim_list",
    "itertools",
    "np",
    "pprint_dense",
    "re",
    "warnings",
]

for _public in (JointNestedRaggedTensorDict, JointArrays, is_ndim_list, pprint_dense):
    _public.__module__ = __name__  # where people import them from, and what a repr of the class says

__getattr__ = loaded_from(
    __name__,
    {"safe_open": "safetensors", "load_file": "safetensors.numpy", "save_file": "safetensors.numpy"},
)
