"""The fuzzer: `python -m benchmarks fuzz` makes long runs of it, the tests short ones."""
