"""Operator specifications: one table, and values within the operators' domains."""
