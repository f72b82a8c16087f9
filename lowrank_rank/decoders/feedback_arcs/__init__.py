"""Preferences between items: orders that go against as little of them as possible."""
