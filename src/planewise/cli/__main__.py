"""``python -m planewise.cli``."""

from planewise.cli import main

main()
