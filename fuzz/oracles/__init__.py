"""Oracles: decide whether an outcome is a failure. Pure functions over Outcomes."""
