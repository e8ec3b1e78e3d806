"""Understands failures: signatures, reduction, drafts, and the only SQL of the project (docs/architecture.md)."""
