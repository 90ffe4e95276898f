"""Several Data by name: what keys have, batches of samples, joint dicts and files."""
