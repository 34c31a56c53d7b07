"""What a project of each ecosystem can be measured with: a module an ecosystem, put together in `measure.detect`."""
