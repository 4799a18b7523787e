"""A world to try Poolkeeper in: loopback servers and simulated agents, met over the wire only."""
