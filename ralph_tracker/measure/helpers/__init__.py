"""Programs that run with the project's own interpreter, whatever its version: they import nothing of ours."""
