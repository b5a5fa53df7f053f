"""What a volunteer sees. The only package that imports Qt; it shows the state of the engine and decides nothing."""
