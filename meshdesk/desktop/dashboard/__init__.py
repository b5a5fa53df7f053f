"""The window that answers at a glance: am I in, how do people reach me, how fast is each hop."""
