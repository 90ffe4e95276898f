"""Names: nouns for things, verbs for deeds. No participle, preposition or adverb is a name by itself."""

import ast
import re

from house import PACKAGE, ROOT, short, sources

#: Words that say what was done, where or how many, and not what a thing is.
ALONE = """
of by in on at to from with without beside besides ahead within behind over under between among before
after  along around above below beyond near via into onto upon against apart together alike alone once
twice here  there whole each both some many none every only such same more least most beneath inside
outside away  back forth else enough nothing anything something somewhere made said given taken seen known
shown drawn  written left kept held found sent built brought laid told gone done come came went spelled
born lost chosen  torn worn grown thrown spoken meant felt heard met led fed paid understood stood sought
caught bought thought  took broken lying leading trailing waiting running moving going doing taking making
differing
"""
#: Nouns that end as participles do, words of the field, and the other side of right.
FIELD = """
ragged padded packed nested left seed speed embed need feed deed expected searchsorted distributed
list2ragged  list2padded ragged2padded padded2ragged ragged2packed packed2ragged
"""
#: What users write, as NumPy, pandas, torch, TensorFlow and RETURNN do: arguments, methods and fields, no
#: variables.
USERS = """
at by on to of over trailing more least found ordered sorted batched estimated stored declared aligned
changed  done finished masked updated derived fixed permuted presorted saved viewed unbiased of_method
"""
PLACES = {"at", "by", "over"}  # which are also variables that pass them on
FILES = {("_restored.py", "_restored"), ("layer.py", "given")}  # what torch saved names it; `as_layer(given)`

#: A comment, a text, an include or a word of C++; only words are names.
TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'"""
    r"""|^[ \t]*\#[ \t]*include[^\n]*|[A-Za-z_]\w*""",
    re.S | re.M,
)
#: Ends of ranges and axes, words of C++, std and CUDA, and modes that users write.
CPP_STANDARD = """
from to at of in by over From To to_ from_ kFrom kTo else once defined unsigned protected unspecified none
back expired sorted repeated aligned shared cached reversed interleaved __shared__
cudaErrorStreamCaptureUnsupported cudaStreamCaptureModeRelaxed cudaHostAllocMapped
"""


def is_alone(name):
    word = name.strip("_")
    if name.startswith("__"):
        return False
    participle = word.endswith("ed") and "_" not in word and len(word) > 3
    return word not in FIELD.split() and (word in ALONE.split() or participle or word.startswith("of_"))


def bindings(tree):
    """The names that a module binds, with their lines, and whether users may write them."""
    fields = {
        id(item.target)
        for cls in ast.walk(tree)
        if isinstance(cls, ast.ClassDef)
        for item in cls.body
        if isinstance(item, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.name, True
        elif isinstance(node, ast.ClassDef):
            yield node.lineno, node.name.lower(), False
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg, True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id, id(node) in fields or node.id in PLACES
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr, True


def wrong_names(path):
    """Lines and names of a file that are words alone."""
    found = [(0, path.stem, False), *bindings(ast.parse(path.read_text()))]
    return [
        (line, name)
        for line, name, is_users in found
        if is_alone(name) and (path.name, name) not in FILES and not (is_users and name in USERS.split())
    ]


def test_names_are_nouns_and_verbs():
    paths = sources(PACKAGE, "*.py") + sources(ROOT / "python" / "faces", "*.py")
    wrong = [f"{short(path)}:{line} {name}" for path in paths for line, name in wrong_names(path)]
    assert not wrong, wrong


def test_the_law_sees_a_word_alone(tmp_path):
    path = tmp_path / "picked.py"
    path.write_text(
        "class Said:\n    def made(self, given): self.kept = [each for each in given]\n    of_level = 1\n"
    )
    names = {name for _, name in wrong_names(path)}
    assert names == {"picked", "said", "made", "given", "kept", "each", "of_level"}


def cpp_name(word):
    """A word of C++ as `is_alone` reads it: a constant without its `k`, a type in small letters."""
    if re.match(r"k[A-Z]", word):
        return re.sub(r"(?<!^)([A-Z])", r"_\1", word[1:]).lower()
    return (word.lower() if word[0].isupper() else word).strip("_")


def cpp_words(path):
    """Names of a C++ file that are words alone: its stem and its tokens."""
    words = [path.stem, *(t for t in TOKENS.findall(path.read_text()) if re.match(r"[A-Za-z_]", t))]
    return {word for word in words if is_alone(cpp_name(word))}


def cpp_sources():
    paths = [path for room in ("cpp", "tests/cpp", "tests/fuzz") for path in (ROOT / room).rglob("*")]
    return [path for path in paths if path.suffix in {".cpp", ".hpp", ".cu", ".cuh", ".inc"}]


def test_names_of_cpp_are_nouns_and_verbs():
    standard = set(CPP_STANDARD.split())
    words = {path: cpp_words(path) for path in cpp_sources()}
    wrong = [f"{short(path)} {word}" for path, found in words.items() for word in sorted(found - standard)]
    assert not wrong, wrong


def test_the_law_sees_a_word_of_cpp_alone(tmp_path):
    path = tmp_path / "lifted.inc"
    path.write_text(
        '#include "kept.hpp"\n// given\nclass Said { int taken_; };\n'
        'constexpr int kMost = 1;\nauto text = "seen";\nint length(int each);\n'
    )
    assert cpp_words(path) == {"lifted", "Said", "taken_", "kMost", "each"}
