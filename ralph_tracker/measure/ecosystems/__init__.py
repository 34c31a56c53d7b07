"""Detect how projects of each ecosystem can be measured: one module per ecosystem, combined in `measure.detect`."""
