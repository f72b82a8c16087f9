"""Benchmarks of lowrank_rank against its peers: ``python -m benchmarks --help``."""
