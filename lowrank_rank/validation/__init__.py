"""The door: what users give is read, checked and converted here, once a call."""
