"""A shard behind HTTP: the server, the relay bridge, the hops, and the head's token loop."""
