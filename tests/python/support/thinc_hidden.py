"""A plugin of pytest for a process of its own: there it is as if nothing of Thinc was installed."""

import sys

HIDDEN = {"thinc", "spacy", "cupy", "catalogue", "confection", "blis", "srsly"}


class Without:
    """A finder that does not find what is hidden."""

    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.split(".")[0] in HIDDEN else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
