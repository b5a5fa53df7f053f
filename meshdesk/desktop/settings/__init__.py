"""The settings window, made from the settings' own model."""
