"""Regression of encoded labels: what the families that regress share."""
