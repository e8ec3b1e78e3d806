"""Speaking to GitHub: who we are, what is asked and said, and saying each thing once (issue 6, decision 013)."""
