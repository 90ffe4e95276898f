"""The table of what varlen promises on a GPU, and the command that builds, tests and measures there."""
