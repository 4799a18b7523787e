"""What Poolkeeper does of its own accord: rounds, moves, provisioning, and the doors outside."""
