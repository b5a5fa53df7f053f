"""Getting a shard from the Hub: what is needed of a repo, fetched by ranges, resumed, verified and kept."""
