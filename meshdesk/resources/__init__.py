"""Icons (SVG) and translations, found with importlib.resources."""
