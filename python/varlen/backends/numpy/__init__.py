"""Verbs on arrays that are more than one call of the core, a module a noun; see `backends.arrays`."""
