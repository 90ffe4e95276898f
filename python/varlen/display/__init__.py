"""Views of containers for a terminal and for a notebook."""
