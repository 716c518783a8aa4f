"""``tacit demo``: four questions of the literature, on made-up data, answered by three real party processes."""
