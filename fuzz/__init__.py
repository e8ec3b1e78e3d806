"""Finds: cases, generators, backends, workers and oracles. No database, no network, no GitHub."""
