"""The placed plan: steps with their native operators, how a tree becomes steps, and what these cost."""
