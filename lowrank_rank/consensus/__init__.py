"""Orders and strengths of items from votes and duels: Kemeny and Bradley-Terry."""
