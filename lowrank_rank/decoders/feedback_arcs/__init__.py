"""Orders that violate as little weight of preferences as possible."""
