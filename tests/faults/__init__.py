"""What goes wrong between real organisations: each a process with a folder of its own, joined by TLS on loopback."""
