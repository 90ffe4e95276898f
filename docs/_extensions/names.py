"""`.. names::` documents the public names of a module, or the members of a class, that patterns choose."""

import inspect

import public
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective


class Names(SphinxDirective):
    """A table of the names with their first lines, then each of them whole."""

    required_arguments = 1
    has_content = True
    option_spec = {"bare": directives.flag}  # noqa: RUF012 - as docutils has it

    def run(self) -> list[nodes.Node]:
        home = self.arguments[0]
        patterns = [word for line in self.content for word in line.split()]
        try:
            names = public.chosen(home, patterns)
        except LookupError as error:
            raise self.error(str(error)) from None
        lines = self._table(home, names) if len(names) > 1 else []
        for name in names:
            lines += self._entry(home, name)
        box = nodes.container()
        self.state.nested_parse(StringList(lines, source="names"), self.content_offset, box)
        return box.children

    def _table(self, home: str, names: list[str]) -> list[str]:
        return [".. autosummary::", "   :nosignatures:", "", *(f"   ~{home}.{name}" for name in names), ""]

    def _entry(self, home: str, name: str) -> list[str]:
        value = inspect.getattr_static(public.find(home), name, None)
        if inspect.isclass(public.find(home)):
            kind = "automethod" if callable(value) or isinstance(value, (classmethod, staticmethod)) else ""
            return [f".. {kind or 'autoattribute'}:: {home}.{name}", ""]
        value = getattr(public.find(home), name)
        if not inspect.isclass(value):
            return [f".. autofunction:: {home}.{name}", ""]
        held = [] if "bare" in self.options else public.own_members(value)
        listed = [f"   :members: {', '.join(held)}"] if held else []
        return [f".. autoclass:: {home}.{name}", *listed, ""]


class LinkCode(SphinxPostTransform):
    """Names of the package in code font are links: `vl.Ragged`, `varlen.ops.sort`, `r.sum`, `ds.batch`."""

    default_priority = 5
    SHORT = {  # noqa: RUF012
        "vl.": "varlen.",
        "ops.": "varlen.ops.",
        "io.": "varlen.io.",
        "data.": "varlen.data.",
        "r.": "varlen.Ragged.",
        "ds.": "varlen.Dataset.",
        "J.": "varlen.JointNestedRaggedTensorDict.",
    }

    def run(self, **kwargs: object) -> None:
        known = self.env.domains["py"].data["objects"]
        for node in list(self.document.findall(nodes.literal)):
            if isinstance(node.parent, (nodes.reference, addnodes.pending_xref)) or self._in_title(node):
                continue
            name = node.astext().split("(")[0]
            for short, whole in self.SHORT.items():
                if name.startswith(short):
                    name = whole + name.removeprefix(short)
            bare = "." not in name
            if not bare or name[:1].isupper() or "_" in name:
                name = name if name in known else f"varlen.{name}"
            entry = known.get(name)
            if entry is None or self._of_others(node):
                continue
            uri = self.app.builder.get_relative_uri(self.env.docname, entry.docname) + f"#{entry.node_id}"
            link = nodes.reference("", "", internal=True, refuri=uri, classes=["code-link"])
            node.replace_self(link)
            link += node

    def _of_others(self, node: nodes.Node) -> bool:
        """In a table that compares: all columns but the last name what another system has."""
        while node is not None and not isinstance(node, nodes.entry):
            node = node.parent
        compares = self.env.docname.startswith("coming/")
        return compares and node is not None and node is not node.parent.children[-1]

    @staticmethod
    def _in_title(node: nodes.Node) -> bool:
        return isinstance(node.parent, (nodes.title, addnodes.desc_name))


def escape_stars(app, what, name, value, options, lines) -> None:
    """Docstrings are plain text: a star outside of code is a star, not emphasis."""
    example = False
    for i, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            parts = line.split("`")
            parts[::2] = [part.replace("*", r"\*") for part in parts[::2]]
            lines[i] = "`".join(parts)


def setup(app: object) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("names", Names)
    app.add_post_transform(LinkCode)
    app.connect("autodoc-process-docstring", escape_stars, priority=1)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
