"""The planner's passes, and the plans and accounts they make, as text."""
