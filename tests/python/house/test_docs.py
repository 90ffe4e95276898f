"""The examples of the documentation run: docstrings of the package and of the core, README.md, the manual."""

import contextlib
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import runpy
import subprocess
import sys
from collections import Counter

import house
import numpy
import oracles
import pytest
import varlen

# An example of these says nothing where they are not installed.
OPTIONAL = {
    "awkward", "fsspec", "matplotlib", "ml_dtypes", "pyarrow", "spacy", "thinc", "torch", "urllib3", "xxhash",
}  # fmt: skip
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(tests):
    """Fail with the whole report of the first example that says something else."""
    runner = doctest.DebugRunner(optionflags=FLAGS, verbose=False)
    count = 0
    for test in tests:
        try:
            runner.run(test, clear_globs=False)
        except doctest.DocTestFailure as failure:
            where = f"{failure.test.name}, line {(failure.test.lineno or 0) + failure.example.lineno + 1}"
            pytest.fail(
                f"{where}\n{failure.example.source}want: {failure.example.want}got:  {failure.got}",
                pytrace=False,
            )
        except doctest.UnexpectedException as failure:
            error = failure.exc_info[1]
            if isinstance(error, ModuleNotFoundError) and error.name in OPTIONAL:
                pytest.skip(f"{error.name} is not installed")
            where = f"{failure.test.name}, line {(failure.test.lineno or 0) + failure.example.lineno + 1}"
            pytest.fail(f"{where}\n{failure.example.source}{error!r}", pytrace=False)
        count += len(test.examples)
    return count


@pytest.fixture(autouse=True)
def _no_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def names():
    return {"varlen": varlen, "vl": varlen, "np": numpy}


@pytest.mark.parametrize("name", house.module_names())
def test_examples_of_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    globs = vars(module) | names()
    run(doctest.DocTestFinder(exclude_empty=True).find(module, name, globs=globs))


ORACLES = [info.name for info in pkgutil.walk_packages(oracles.__path__, "oracles.") if not info.ispkg]


@pytest.mark.parametrize("name", ORACLES)
def test_examples_of_oracles(name):
    module = importlib.import_module(name)
    assert run(doctest.DocTestFinder(exclude_empty=True).find(module, name, globs=vars(module) | names()))


def test_examples_of_the_core(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestParser()
    for key, value in vars(varlen._core).items():
        members = vars(value).items() if inspect.isclass(value) else ()
        for name, item in [(key, value), *((f"{key}.{k}", v) for k, v in members)]:
            text = getattr(item, "__doc__", None)
            if isinstance(text, str) and ">>>" in text:
                run([finder.get_doctest(inspect.cleandoc(text), names(), name, None, 0)])


# Blocks of the pages that are no examples of Python or of the command line.
NOT_RUN = {"text", "sh", "cpp", "cmake"}
PICTURE = re.compile(r"\(\.\./pictures/gallery/([\w.]+)\)")
MANUAL = house.ROOT / "docs"
PAGES = [house.ROOT / "README.md", *house.sources(MANUAL, "*.md")]


def blocks(page):
    """(line, language, text) of each fenced block of a page, but those that are directives."""
    pattern = re.compile(r"^(`{3,})(\S*)\n(.*?)^\1$", flags=re.DOTALL | re.MULTILINE)
    text = page.read_text()
    for found in pattern.finditer(text):
        if not found[2].startswith("{"):
            yield text[: found.start(3)].count("\n") + 1, found[2], found[3]


def run_script(page, line, text, names):
    """Code without prompts: a script, whose errors are at the lines of the page."""
    try:
        exec(compile("\n" * (line - 1) + text, str(page), "exec"), names)
    except ModuleNotFoundError as error:
        if error.name in OPTIONAL:
            pytest.skip(f"{error.name} is not installed")
        raise


def run_console(page, line, text):
    """Commands after `$ `, and what they print."""
    commands = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert commands[0] == "", f"{house.short(page)}, line {line}: expected '$ ' before the first command"
    for command in commands[1:]:
        first, _, want = command.partition("\n")
        while first.endswith("\\"):
            more, _, want = want.partition("\n")
            first = f"{first}\n{more}"
        own = f'"{sys.executable}"'
        shell = f'varlen() {{ {own} -m varlen "$@"; }}; python() {{ {own} "$@"; }}\n'
        done = subprocess.run(
            ["bash", "-c", shell + first],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            env=os.environ | {"COLUMNS": "100"},
            check=False,
        )
        if not doctest.OutputChecker().check_output(want, done.stdout, FLAGS):
            where = f"{house.short(page)}, line {line}"
            pytest.fail(f"{where}\n$ {first}\nwant:\n{want}got:\n{done.stdout}", pytrace=False)


# Trains in processes of its own, which `tests/python/data` does with less.
DEEP = {"docs/guides/parquet_to_ddp.md"}


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.deep) if house.short(page) in DEEP else page for page in PAGES],
    ids=house.short,
)
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")  # on one core
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # workers are forked
# What torch says where a graph ends.
@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace:UserWarning")
def test_blocks_of_page(page, tmp_path, monkeypatch):
    """From the first to the last, in one folder and with one set of names."""
    monkeypatch.chdir(tmp_path)
    if "use_ops" in page.read_text():
        with contextlib.suppress(ImportError):
            importlib.import_module("varlen.thinc").VarlenOps  # noqa: B018 - known by name without an installation
    names = {"__name__": "page"}
    where = house.short(page)
    count = Counter()
    for line, language, text in blocks(page):
        count[language] += 1
        if language == "console":
            run_console(page, line, text)
        elif language == "python" and ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, names, where, where, line - 1)
            test.globs = names
            run([test])
        elif language == "python":
            run_script(page, line, text, names)
        else:
            assert language in NOT_RUN, f"{where}, line {line}: what is {language!r}?"
    assert page.name != "README.md" or page.parent == MANUAL or count["python"] >= 5


def test_pictures_of_the_gallery_come_from_its_pages(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib comes with the extra `plot`")
    drawings = runpy.run_path(str(MANUAL / "gallery/pictures.py"))
    drawings["draw"](MANUAL / "gallery/index.md", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"lengths.svg", "padding.svg", "raster.svg", "timeline.svg"}
    of_pages = {
        name
        for page in house.sources(MANUAL / "gallery", "*.md")
        for name in PICTURE.findall(page.read_text())
    }
    assert of_pages == {path.name for path in (MANUAL / "pictures/gallery").iterdir()} >= names


@pytest.fixture
def public(monkeypatch):
    monkeypatch.syspath_prepend(MANUAL / "_extensions")
    return importlib.import_module("public")


def test_reference_documents_every_public_name_once(public):
    """Runs where all that is documented can be imported."""
    pytest.importorskip("thinc", reason="thinc is not installed")
    assert public.problems(MANUAL / "reference") == []


# Parameters that the signature has, those that it lacks, their order, results, examples, a docstring at all.
NUMPYDOC = {"PR01", "PR02", "PR03", "RT01", "EX01", "GL08"}


def public_names(public):
    """(dotted name, value) of each public name once, and of each public member of the classes among them."""
    seen = {}
    for home in public.modules():
        for name in public.members(home):
            value = getattr(public.find(home), name)
            if id(value) in seen:
                continue
            seen[id(value)] = value
            yield f"{home}.{name}", value
            for member in public.own_members(value) if inspect.isclass(value) else ():
                yield f"{home}.{name}.{member}", inspect.getattr_static(value, member)


def faults_of(validator, name, value):
    """What numpydoc says against a docstring. What is read, not called, needs no result and no example."""
    is_called = callable(value) or isinstance(value, (classmethod, staticmethod))
    waived = set() if is_called else {"RT01", "EX01"}
    called = value.__init__ if inspect.isclass(value) else value
    code = getattr(called, "__code__", None)
    if code is not None and code.co_flags & inspect.CO_VARKEYWORDS:
        waived = waived | {"PR03"}  # options by name alone stand by what they are about
    errors = validator.validate(name)["errors"]
    return [f"{name}: {code} {text}" for code, text in errors if code in NUMPYDOC - waived]


def test_docstrings_pass_numpydoc(public):
    """Runs where the manual is built: numpydoc comes with it."""
    validator = pytest.importorskip("numpydoc.validate", reason="numpydoc comes with the extra `docs`")
    names = dict(public_names(public))
    assert len(names) > 600
    faults = [fault for name, value in names.items() for fault in faults_of(validator, name, value)]
    assert faults == [], "\n".join(faults)


# Methods that take a level, but are about levels themselves, or lay rows out.
ABOUT_LEVELS = {"add_level", "drop_level", "pack", "segment_ids", "slice_in_level", "sub_lod"}


def verbs_of_the_manual():
    """(names, functions, level, axis, empty, out) of each line of the table of verbs."""
    text = (MANUAL / "concepts/levels.md").read_text()
    for line in text.split("## Which verb is which")[1].split("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")] if line.startswith("| ") else []
        if cells and cells[1] in ("reduce", "in place", "move", "rank"):
            cells += [""] * (7 - len(cells))
            yield [re.findall(r"`([\w.]+)`", cell) for cell in (cells[0], cells[2])], cells[3:7]


def parameters(name):
    home = {"r": varlen.Ragged, "ops": varlen.ops, "vl": varlen}[name.split(".")[0]]
    return inspect.signature(getattr(home, name.split(".")[1])).parameters


def test_table_of_verbs_says_what_they_take():
    seen = set()
    for (methods, functions), (level, axis, empty, out) in verbs_of_the_manual():
        for name in [*methods, *functions]:
            takes = parameters(name)
            assert ("level" in takes) == (level == "yes"), name
            assert ("axis" in takes and name[:3] != "vl.") == (axis == "yes"), name
            assert ("empty" in takes) == (empty not in ("", "`pad_value=`") and "always" not in empty), name
            if name.startswith("ops."):
                assert ("out" in takes) == (out == "yes"), name
            if "empty" in takes:
                given = str(takes["empty"].default).replace("None", "refused")
                assert given in empty.split(", "), name
        seen.update(methods)
    every = {f"r.{name}" for name in dir(varlen.Ragged) if name[0] != "_" and name not in ABOUT_LEVELS}
    levelled = {
        name
        for name in every
        if callable(getattr(varlen.Ragged, name[2:], None)) and "level" in parameters(name)
    }
    assert levelled - seen == set()
