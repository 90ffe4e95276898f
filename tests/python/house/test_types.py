"""Types that users see: containers are generic at run time too, and every public name says what it gives."""

import ast
import doctest
import importlib.util
import inspect
import pickle
import pydoc

import numpy as np
import pytest
import varlen as vl
from house import PACKAGE, ROOT, short, sources
from varlen.lod import LoDTensor
from varlen.tf import RaggedTensor

spec = importlib.util.spec_from_file_location("public", ROOT / "docs/_extensions/public.py")
public = importlib.util.module_from_spec(spec)
spec.loader.exec_module(public)


@pytest.mark.parametrize("kind", [vl.Ragged, vl.Padded, vl.Packed, LoDTensor, RaggedTensor])
def test_containers_can_be_subscripted_with_a_kind_of_array(kind):
    alias = kind[np.ndarray]
    assert alias.__origin__ is kind
    assert alias.__args__ == (np.ndarray,)
    assert not hasattr(kind, "__orig_class__")


def test_a_subscripted_class_makes_what_the_class_makes():
    r = vl.Ragged[np.ndarray]([3, 1, 4], [1, 2])
    assert type(r) is vl.Ragged
    assert not hasattr(r, "__dict__")
    assert type(pickle.loads(pickle.dumps(r))) is vl.Ragged
    assert vl.Ragged[np.ndarray].from_list([[3], [1, 4]]).equals(r)


def test_sample_of_user_code_holds_at_run_time():
    """That its types are right is mypy's business, which reads the same file."""
    pytest.importorskip("torch")
    import typed_sample

    typed_sample.main()
    checked = (ROOT / "setup.cfg").read_text().split("[mypy]")[1].split("\n\n")[0]
    assert short(typed_sample_path()) in checked


def typed_sample_path():
    return ROOT / "tests/python/house/typed_sample.py"


def returned(value):
    """What a function or a method written in Python says that it gives; None where it is not Python's."""
    if isinstance(value, property):
        value = value.fget
    value = inspect.unwrap(getattr(value, "__func__", value))
    return value.__annotations__.get("return", "nothing") if inspect.isfunction(value) else None


def public_functions():
    for home in public.modules():
        for name in public.members(home):
            value = getattr(public.find(home), name)
            if not inspect.isclass(value):
                yield f"{home}.{name}", value
                continue
            for key in public.own_members(value):
                yield f"{home}.{name}.{key}", inspect.getattr_static(value, key)


def test_public_functions_say_what_they_give():
    functions = dict(public_functions())
    assert len(functions) > 400
    vague = [path for path, value in functions.items() if returned(value) in ("Any", "nothing")]
    assert vague == []


def test_overloads_say_what_they_give():
    found = 0
    for path in sources(PACKAGE, "*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "@overload" in text else ():
            if isinstance(node, ast.FunctionDef) and "overload" in map(ast.unparse, node.decorator_list):
                found += 1
                gives = ast.unparse(node.returns) if node.returns else "nothing"
                assert gives not in ("Any", "nothing"), f"{short(path)}:{node.lineno}: {node.name}"
    assert found > 100


def test_stub_of_the_core_says_what_its_public_names_give():
    """Of the core `Level` and the number of threads are public."""
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    names = {"Level", "num_threads", "set_num_threads"}
    for top in (node for node in tree.body if getattr(node, "name", None) in names):
        for node in ast.walk(top):
            if isinstance(node, ast.FunctionDef) and (node.name[0] != "_" or node.name[-2:] == "__"):
                assert node.returns is not None, node.name
                assert ast.unparse(node.returns) != "Any", node.name


def test_help_explains_indexing():
    text = pydoc.plain(pydoc.render_doc(vl.Ragged.__getitem__))
    for word in ("Parameters", "slice", "mask", "Returns", "share memory", "IndexError", "Examples"):
        assert word in text
    assert str(inspect.signature(vl.Ragged.__getitem__)) == "(self, key, /)"
    assert LoDTensor.__getitem__.__doc__ == vl.Ragged.__getitem__.__doc__
    globs = {"vl": vl, "np": np}
    found = doctest.DocTestParser().get_doctest(vl.Ragged.__getitem__.__doc__, globs, "indexing", None, 0)
    examples = doctest.DocTestRunner().run(found)
    assert examples.attempted > 3
    assert examples.failed == 0
