"""How Sphinx builds the manual: `sphinx-build -n -W --keep-going docs build/docs`."""

import sys
from pathlib import Path

import varlen

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "varlen"
author = "the authors of varlen"
copyright = author
release = version = varlen.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "names",
]
exclude_patterns = ["README.md", "_extensions"]
nitpicky = True
default_role = "code"  # docstrings have their names in single backticks

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 3

autosummary_generate = False
autodoc_typehints = "none"  # types are told under Parameters
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 88

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_style = "friendly"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_title = f"varlen {release}"
html_static_path = ["_static"]
html_css_files = ["varlen.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0b6e6e", "color-brand-content": "#0b6e6e"},
    "dark_css_variables": {"color-brand-primary": "#5fd0c5", "color-brand-content": "#5fd0c5"},
}
