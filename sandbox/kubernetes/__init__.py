"""A stand-in Kubernetes API server, and a small cluster: machines, controllers, people."""
