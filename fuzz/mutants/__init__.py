"""Mutants that mean what their seed means: metamorphic testing of compilers.

Xiao et al., "Metamorphic Testing of Deep Learning Compilers" (MT-DLComp), POMACS 6 (2022), section 4; issue 8.

A mutation adds ``guard * garbage`` to one tensor of the graph. The guard is a condition that no compiler works out
while it compiles, and that is exactly zero whenever the model runs: for every input (universal, UOC) or for the
profiled one (per input, PIOC). So original and mutant must give the same on the same compiler. See docs/mutants.md.
"""
