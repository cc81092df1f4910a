"""``python -m planewise``."""

from planewise.cli import main

main()
