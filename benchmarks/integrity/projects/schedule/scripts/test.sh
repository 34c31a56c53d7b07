#!/bin/sh
# Runs the tests; the first argument is the folder for the report.
exec python -m coverage run -m pytest --ignore=.aiwg --junitxml="$1/junit.xml"
