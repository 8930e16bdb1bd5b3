"""The command line: every command parses its options, calls a room and prints.

training     train, status, recipe
summarizing  summarize, models
evaluating   evaluate, samples, report
serving      serve, export
demo, bench  one command each
options      what several commands take
output       what they print
app          all of them put together: `main` runs it

Data goes to standard output, everything else to standard error, so that output can be piped. Exit codes: 0 done; 2 a
mistake of the user's, explained without a traceback; 130 Ctrl-C; 141 the reader of a pipe is gone. A command imports
what it needs, so that `nutgraf --help` is fast.
"""

from nutgraf.cli.app import app, main

__all__ = ["app", "main"]
