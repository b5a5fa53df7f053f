"""The control plane: who serves which layers, which route a chat takes, and the OpenAI API."""
