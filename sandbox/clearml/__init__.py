"""A stand-in for a self-hosted ClearML API server, held to the recordings of a real one."""
