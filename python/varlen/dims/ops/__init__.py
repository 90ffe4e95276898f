"""Operations on Data, one noun per file: plans over the verbs of `varlen.ops`."""
