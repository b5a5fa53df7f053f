"""One node's layers: which they are, how they are loaded, and the child process that runs them."""
