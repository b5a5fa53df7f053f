"""The public hub: nodes connect outward to it, and requesters reach them through it."""
