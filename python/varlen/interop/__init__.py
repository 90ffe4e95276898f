"""Other libraries, one module each, loaded only for those who bring them."""
