"""The first run: which mesh, and four short questions. Nothing is kept or started before its end."""
