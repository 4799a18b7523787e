"""What Poolkeeper decides: frozen values and pure functions; no clock, no I/O, no vendor."""
