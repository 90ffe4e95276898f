"""Operations on Data, a noun a file: plans over the verbs of `varlen.ops`, for values as their dims say."""
