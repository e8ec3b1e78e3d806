"""HirGen: coverage-guided computational graphs, graphs with one violation, and graphs whose parts are functions.

Ma et al., "Fuzzing Deep Learning Compilers with HirGen", ISSTA 2023, section 3. Decision 017 says what differs.
"""
