"""The command line, a file for each command: what a person types, and what they are told."""
