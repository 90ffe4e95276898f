"""A plugin of pytest for a process of its own: nothing of Thinc can be imported there."""

import sys

HIDDEN = {"thinc", "spacy", "cupy", "catalogue", "confection", "blis", "srsly"}


class Hide:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hide())
