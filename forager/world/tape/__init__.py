"""A tape: a recorded crawl compiled to columns, and the World that plays it back."""
