"""What an owner's agent checks alone: that answers together tell of no fewer units than the floor (docs/protocols)."""
