"""Faults of passes, one file each: see tests/mutants/faults.py."""
