"""Builds of a compiler: which exist, and an environment in which each can be run (issue 5, decision 010).

`config` reads one TOML file a compiler, `providers/` know where builds come from, `listing` names them,
`environments` makes them, `preflight` refuses those that compute garbage. Nothing here imports a compiler.
"""
