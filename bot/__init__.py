"""What people say to Poolkeeper and what it answers: the command line, and the composition root."""
