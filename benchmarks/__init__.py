"""The benchmark table: varlen beside its peers, kernels written by hand, and what memory allows."""
