"""The suite of a compiler, run on its builds: what one build does, what two differ in, what changed over releases.

`entries` are what is run, `order` says in which order, `changed` which operators a commit touches. `running` runs them
on one build, `gate` on two in turns, `sweep` on many. `journal` keeps what an interrupted run has found, `memory` what
earlier runs saw. Nothing here imports a compiler or knows SQL (issue 5, decision 012).
"""
