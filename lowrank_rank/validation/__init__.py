"""Input from users is read, checked and converted here, once in each call."""
