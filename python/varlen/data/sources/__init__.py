"""Sources of rows: files, memory, several sources in a chain, and a source with a replaced key."""
