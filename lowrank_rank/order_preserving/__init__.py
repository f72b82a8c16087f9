"""Order-preserving surrogates, regret bounds (Calauzènes, Usunier & Gallinari 2013)."""
