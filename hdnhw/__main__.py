"""``python -m hdnhw``, and the command ``hdnhw``: Ctrl-C is one line from the first moment on."""

import sys


def main() -> int:
    """Run the command line, see :func:`hdnhw.cli.main`."""
    try:
        from hdnhw.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("hdnhw: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    status = main()
    exec("")  # a KeyboardInterrupt that passed an exec of a text (dataclasses have one) is noted until the next: then
    # Python, with -m, dies of SIGINT whatever the status
    sys.exit(status)
