"""The window in which a person tries a chat with the mesh."""
