"""What a plan shows: its disclosures, their sentences, its text, its canonical form and its hash."""
