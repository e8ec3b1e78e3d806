"""The life of an issue: what an outcome means for it, and what is said (issue 6, docs/life.md).

`decide` and `limits` are pure: facts in, a decision with its reason out. `running` gathers the facts on real builds,
`saying` puts words and state changes into the outbox, `sent` does what follows once something has arrived. `human` is
what people decided.
"""
