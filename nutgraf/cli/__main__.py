"""`python -m nutgraf.cli` is `nutgraf`."""

from nutgraf.cli.app import main

main()
