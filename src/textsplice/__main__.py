"""`python -m textsplice`."""

from textsplice.cli import main

main()
