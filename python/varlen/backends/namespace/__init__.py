"""The verbs on arrays of a library that has NumPy's functions and lies on devices, as CuPy.

The core does what it does for arrays; what it has no verb for is plain arithmetic by the functions of the
library's own namespace, which has NumPy's names.
"""

from __future__ import annotations

from varlen.backends.namespace.arithmetic import Arithmetic
from varlen.backends.namespace.einsum import Einsum
from varlen.backends.namespace.library import Library
from varlen.backends.namespace.lists import Lists
from varlen.backends.namespace.values import Values
from varlen.backends.namespace.verbs import Verbs, core_verb
from varlen.backends.table import VERBS

__all__ = ["Library", "NamespaceBackend"]


class NamespaceBackend(Verbs, Values, Lists, Arithmetic, Einsum):
    """The verbs on the arrays of one library."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.xp = library.xp
        self.type = library.array

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.xp.__name__})"


for _verb in VERBS:  # all others are the core's
    if not hasattr(NamespaceBackend, _verb):
        setattr(NamespaceBackend, _verb, core_verb(_verb))
