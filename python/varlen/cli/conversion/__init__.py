"""What ``varlen convert`` does: inputs, tables and lines, groups, words, order, MEDS."""
