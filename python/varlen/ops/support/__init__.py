"""What verbs share: how arguments are read, how results are wrapped, values along axes."""
