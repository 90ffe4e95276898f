"""Hypothesis profiles, the header of the report, and what becomes of tests that need a device."""

import gc
import importlib.metadata
import os
import platform
import sys

import hypothesis
import pytest
import varlen

hypothesis.settings.register_profile("dev", deadline=None)
for _name, _examples in (("deep", 100), ("ci", 20), ("quick", 10)):
    hypothesis.settings.register_profile(
        _name, deadline=None, derandomize=True, database=None, print_blob=True, max_examples=_examples
    )
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
)

# The kernels of devices take the arrays of the host, thread by thread, where they were built for that.
ON_HOST = os.environ.get("VARLEN_CUDA_ON_HOST") == "1"
if ON_HOST:
    from varlen import _core, _cuda_host

    _core.register(host_kernels=_cuda_host.kernels)

    @pytest.fixture(autouse=True)
    def _as_it_was():
        """What tests that choose kernels themselves leave behind holds for them alone."""
        yield
        _core.register(host_kernels=_cuda_host.kernels)


OTHERS = ("numpy", "torch", "pyarrow", "safetensors", "ml_dtypes", "nested_ragged_tensors", "hypothesis")


# More would not end sooner: a few tests take seconds, and each process imports torch.
MOST_PROCESSES = 8


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Deal the whole suite out to the cores where pytest-xdist is installed; a part starts sooner in one."""
    is_whole = config.args_source is config.ArgsSource.TESTPATHS
    if not is_whole or not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput"):
        return
    options = config.option
    if options.numprocesses is None and not (options.usepdb or options.collectonly):
        options.numprocesses = "auto"
        options.maxprocesses = options.maxprocesses or MOST_PROCESSES
        if options.dist == "no":
            options.dist = "worksteal"  # a test of many seconds holds up none that were dealt out behind it


def version_of(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def pytest_report_header():
    return [
        f"varlen {varlen.__version__} from {os.path.dirname(varlen.__file__)}",
        f"python {platform.python_version()}, " + ", ".join(f"{name} {version_of(name)}" for name in OTHERS),
        f"threads {varlen.num_threads()}; {varlen.cuda.status()}",
    ]


def pytest_collection_finish():
    """What was imported stays: collections in tests need not look through it, which takes up to seconds."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item):
    """Skip what needs a device, with the reason; where REQUIRE_CUDA=1 promises one, fail instead."""
    marker = item.get_closest_marker("cuda")
    if marker is None or varlen.cuda.is_available():
        return
    # True: on the host's memory by whatever way; "host_cuda": where torch has a device of it.
    on_host = marker.kwargs.get("on_host")
    if on_host and ("host_cuda" in sys.modules or (ON_HOST and on_host is True)):
        return
    if os.environ.get("REQUIRE_CUDA") == "1":
        pytest.fail(f"REQUIRE_CUDA=1, but {varlen.cuda.status()}", pytrace=False)
    pytest.skip(str(varlen.cuda.status()))


@pytest.fixture
def short_waits(monkeypatch):
    """A DataLoader that an error drops waits this long for each of its workers, which end late."""
    utils = pytest.importorskip("torch.utils.data._utils")
    monkeypatch.setattr(utils, "MP_STATUS_CHECK_INTERVAL", 0.05)
    yield
    gc.collect()  # the loader goes while the wait is short


@pytest.fixture(params=[1, pytest.param(2, marks=pytest.mark.deep), 4], ids=lambda n: f"threads{n}")
def any_threads(request):
    """The same test with one thread and with four; deep with two as well."""
    before = varlen.num_threads()
    varlen.set_num_threads(request.param)
    yield request.param
    varlen.set_num_threads(before)
