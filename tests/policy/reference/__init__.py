"""What owners' rules mean, told a second time: on small data in clear, with no line of the product."""
