"""How containers look: in a terminal, and in a notebook."""
