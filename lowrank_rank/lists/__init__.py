"""Lists of rows, ids, and orders and ranks within lists: flat arrays and offsets."""
