"""Where work is done: in this process, or by processes on the machines of a Ray cluster."""
