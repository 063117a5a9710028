"""`python -m cboc` is the command `cboc`."""

from cboc.cli.app import main

if __name__ == "__main__":
    main()
