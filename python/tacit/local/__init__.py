"""Local parts and tails of a plan, run in a party's own engine over its own files, which are checked first."""
