"""How VarlenOps is chosen: by name, by the entry point, and as the default of everything on the CPU."""

import os
import re
import sys
import threading

import house
import numpy as np
import pytest

thinc = pytest.importorskip("thinc", reason="thinc is not installed")

import varlen.thinc  # noqa: E402
from thinc.api import Maxout, get_current_ops, get_ops, require_cpu, set_current_ops, use_ops  # noqa: E402
from thinc.backends import NumpyOps, get_array_ops  # noqa: E402

OURS = varlen.thinc.VarlenOps()
ROWS = np.arange(8, dtype=np.float32).reshape(4, 2)


def test_use_ops_selects_it_by_name():
    with use_ops("varlen"):
        assert type(get_current_ops()) is varlen.thinc.VarlenOps
        assert type(Maxout(2, 3).ops) is varlen.thinc.VarlenOps
    assert type(get_ops("varlen", use_blis=False)) is varlen.thinc.VarlenOps
    assert type(get_ops("numpy")) is NumpyOps


def test_thinc_finds_it_where_both_are_installed(tmp_path):
    """By the entry point of pyproject.toml alone."""
    text = (house.ROOT / "pyproject.toml").read_text()
    section = re.search(r"^\[project.entry-points.thinc_ops\]\n((?:\w+ = .+\n)+)", text, flags=re.MULTILINE)
    lines = section[1].replace('"', "")
    folder = tmp_path / "varlen_by_name-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: varlen-by-name\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[thinc_ops]\n{lines}")
    code = (
        "from thinc.api import get_ops\n"
        "print(*(type(get_ops(name)).__name__ for name in ('varlen', 'varlen-cuda')), get_ops('cpu').name)"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    assert house.in_python(code, PYTHONPATH=path)[0] == "VarlenOps VarlenCupyOps numpy"


@pytest.fixture
def installed():
    before = get_current_ops()
    yield varlen.thinc.install()
    varlen.thinc.uninstall()
    set_current_ops(before)


def in_a_thread(call):
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


def reached():
    """The ops that everything on the CPU comes to."""
    from thinc.layers import list2array, with_array, with_ragged

    model = Maxout(2, 3)
    model.to_cpu()
    require_cpu()
    return {
        "cpu": get_ops("cpu"),
        "numpy": get_ops("numpy", use_blis=False),
        "current": get_current_ops(),
        "to_cpu": model.ops,
        "thread": in_a_thread(get_current_ops),
        "array": thinc.backends.get_array_ops(ROWS),
        "optimizer": thinc.optimizers.get_array_ops(ROWS),
        "list2array": sys.modules[list2array.__module__].NUMPY_OPS,
        "with_array": sys.modules[with_array.__module__].NUMPY_OPS,
        "with_ragged": sys.modules[with_ragged.__module__].NUMPY_OPS,
    }


def test_install_reaches_every_default(installed):
    assert {name: type(ops) for name, ops in reached().items() if type(ops) is not type(OURS)} == {}
    assert reached()["numpy"].use_blis is False
    assert varlen.thinc.install() is installed
    assert type(NumpyOps()) is NumpyOps
    installed()
    assert {name: type(ops) for name, ops in reached().items() if type(ops) is not NumpyOps} == {}


def test_uninstall_leaves_nothing(installed):
    def state():
        kept = dict(thinc.registry.ops.get_all()), thinc.model.NumpyOps, thinc.backends.get_array_ops
        return kept, thinc.optimizers.get_array_ops, get_current_ops()

    installed()
    before = state()
    varlen.thinc.install()
    varlen.thinc.install()
    assert state() != before
    varlen.thinc.uninstall()
    assert state() == before
    varlen.thinc.uninstall()
    assert state() == before
    assert get_array_ops is before[0][2]


def test_install_leaves_what_someone_chose():
    before = get_current_ops()
    with use_ops("varlen"):
        chosen = get_current_ops()
        varlen.thinc.install()
        assert get_current_ops() is chosen
        varlen.thinc.uninstall()
        assert get_current_ops() is chosen
    assert get_current_ops() is before


def test_types_need_no_thinc():
    code = (
        "import sys; sys.modules['thinc'] = None\n"
        "import varlen.thinc\n"
        "from varlen.thinc import Ragged, Padded, Pairs\n"
        "print(Ragged([1, 2], [1, 1]).lengths.tolist())\n"
        "for name in ('VarlenOps', 'VarlenCupyOps', 'install', 'uninstall'):\n"
        "    try:\n"
        "        getattr(varlen.thinc, name)\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
    )
    lines = house.in_python(code, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))[0].splitlines()
    assert lines[0] == "[1, 1]"
    assert [line.split(" (")[0] for line in lines[1:]] == [
        f"varlen.thinc.{name} needs thinc" for name in ("VarlenOps", "VarlenCupyOps", "install", "uninstall")
    ]
    assert all("pip install" in line for line in lines[1:])
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        varlen.thinc.nonsense  # noqa: B018


def test_install_loads_no_lazy_module(monkeypatch):
    class Lazy(type(sys)):
        def __getattribute__(self, name):
            raise AssertionError(f"{name} of a lazy module was asked for")

    monkeypatch.setitem(sys.modules, "lazy", Lazy("lazy"))
    varlen.thinc.install()()
