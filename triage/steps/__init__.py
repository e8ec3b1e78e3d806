"""One file for each step that takes a bug from NEW to DRAFTED; `triage.pipeline` holds them together."""
