"""`python -m ralph_tracker` is `ralph-tracker`."""

from ralph_tracker.cli.app import main

if __name__ == "__main__":
    main()
