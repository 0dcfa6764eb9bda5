"""The HTTP API and the page: `textsplice serve`."""
