"""What a change of a compiler does, told to GitHub: the check run of a pull request, what follows from a landed commit.

`building` has the builds that are compared, `asking` what the gate is asked, `run` the check run and `words` its texts,
`sharing` what several pull requests at one head have of it;
`known` finds the bugs behind cases, `landing` what follows from a commit that landed (issue 6, docs/gate.md).
"""
