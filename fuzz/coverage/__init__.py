"""Coverage of test sets of models: the metrics of Isra, and the operator-level coverage of graph-based fuzzing."""
