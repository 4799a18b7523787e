"""A loopback Slack: the Web API, Socket Mode and signed HTTP, and a door to act as people."""
