"""`python -m cboc` is the command `cboc`."""

import sys


def main() -> None:
    """The command; Ctrl-C while its parts are being loaded ends it as quietly as later."""
    try:
        from cboc.cli.app import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
