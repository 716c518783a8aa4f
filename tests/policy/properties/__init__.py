"""What must hold of owners' rules for all data of a small world, whatever judges and answers the questions."""
