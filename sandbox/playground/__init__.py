"""A little company on the stand-in servers, and what a browser's page about it talks to."""
