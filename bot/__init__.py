"""Talks: the command line today; GitHub, the clock and the web pages later."""
