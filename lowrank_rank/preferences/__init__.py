"""Preferences between items (Ramaswamy, Agarwal & Tewari 2013, section 7)."""
