"""A party's agent: federations' files, keys, the run of a placed plan, the processes of one machine, the ledger."""
