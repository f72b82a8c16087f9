"""Precision at the top of a list (Kar, Narasimhan & Jain 2015)."""
