"""The command ``meshdesk``, also as ``python -m meshdesk``."""

from __future__ import annotations

import sys

EXIT_INTERRUPTED = 130


def main() -> None:
    """Run the command line. Ctrl-C while it is still being imported ends quietly too."""
    try:
        from meshdesk.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
