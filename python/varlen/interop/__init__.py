"""Other libraries, one module each, loaded only if their types are used."""
