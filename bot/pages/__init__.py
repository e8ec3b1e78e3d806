"""Pages to look at: bugs, what is known of each, and campaigns; the same as JSON (issue 9, docs/pages.md)."""
