"""What goes over the wire, with no I/O: envelopes, headers, tensors, routes, sampling."""
