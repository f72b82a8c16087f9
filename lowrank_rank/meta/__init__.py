"""Meta-estimators: several rankers in one, and other models as rankers."""
