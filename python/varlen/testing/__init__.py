"""For tests of varlen, and of what is built on it: plain-Python oracles, and hypothesis strategies."""
