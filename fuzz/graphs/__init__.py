"""Graph-based fuzzing: models from random graphs whose nodes are blocks.

Luo et al., "Graph-based fuzz testing for deep learning inference engines", ICSE 2021, section III. `workflow` is its
algorithm 1; the parts are the block corpus (`blocks`), random graphs (`digraphs`), mutations (`mutations`), the
shapes-and-parameters calculator (`wiring`, `adapting`, `windows`) and the block choosers (`choosers`, `tree`).
"""
