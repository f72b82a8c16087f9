"""Preferences between items, learnt in pairs (Ramaswamy, Agarwal & Tewari 2013, section 7)."""
