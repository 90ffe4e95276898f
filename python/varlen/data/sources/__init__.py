"""Where the rows of a dataset come from: files, memory, several sources in a chain, a key of another's."""
