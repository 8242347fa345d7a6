"""`python -m toolwire`: the command line."""

from toolwire._command import run

if __name__ == "__main__":
    run()
