"""Operator-level coverage of test sets of models: the metrics of Isra (section 4.3)."""
