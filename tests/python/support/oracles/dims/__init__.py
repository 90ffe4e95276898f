"""What values over named dims mean, on the models of `varlen.testing.model`, and expressions of dims."""
