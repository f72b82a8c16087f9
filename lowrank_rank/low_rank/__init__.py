"""Calibrated surrogates for low-rank losses (Ramaswamy, Agarwal & Tewari 2013)."""
