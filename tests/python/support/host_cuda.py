"""A CUDA device that is memory of the host, for torch and for the kernels: what is there for tensors of a
device is tried where there is none.

It is one for the whole process, and has to be made before torch looks for devices: `pytest -p host_cuda`.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sysconfig
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("host_cuda.cpp")
NAME = "host_cuda_device"


def build(folder):
    """The module of the device, compiled against the torch that is installed."""
    torch = Path(importlib.util.find_spec("torch").origin).parent
    path = Path(folder) / (NAME + sysconfig.get_config_var("EXT_SUFFIX"))
    folders = [torch / "include", torch / "include/torch/csrc/api/include", sysconfig.get_path("include")]
    flags = ["-std=c++20", "-O0", "-w", "-shared", "-fPIC", *(f"-I{each}" for each in folders)]
    libraries = [f"-L{torch / 'lib'}", f"-Wl,-rpath,{torch / 'lib'}", "-lc10", "-ltorch_cpu", "-ltorch"]
    subprocess.run(["g++", *flags, str(SOURCE), "-o", str(path), *libraries], check=True)
    return path


def load():
    """Make the device known to torch, and the kernels that run on the host to the core."""
    with tempfile.TemporaryDirectory() as folder:
        spec = importlib.util.spec_from_file_location(NAME, build(folder))
        device = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(device)
    import torch
    from varlen import _core, _cuda_host

    torch.cuda._lazy_init = lambda: None
    torch.cuda.device_count = lambda: 1
    _core.register(kernels=_cuda_host.kernels)
    return device


# What is asked of its streams is written down by `varlen._cuda_host`: see `asked` there. waits() gives how
# often torch has waited.
device = load()
