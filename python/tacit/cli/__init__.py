"""The ``tacit`` command: one file a command, and what the commands print."""
