"""``tacit demo``: questions of the literature, on made-up data, answered by real party processes."""
