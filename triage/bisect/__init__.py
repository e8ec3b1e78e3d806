"""Between which two builds an outcome changed (issue 5, decision 011).

`outcome` says what was seen, `posterior` what that says about where the change lies, `ends`, `sides` and `search`
decide what is tested next, `answer` tells what came out (all pure). `progress` keeps what was seen over a kill,
`bisection` runs it, `builds` is the way to the real compilers.
"""
