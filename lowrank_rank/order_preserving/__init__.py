"""Order-preserving surrogates and regret bounds (Calauzènes, Usunier & Gallinari 2013)."""
