"""What verbs mean, in a few lines of plain Python over lists each: slow, short, and what tests hold to."""
