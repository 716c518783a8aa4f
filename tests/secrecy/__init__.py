"""What a party sees of a run: message sizes that tell nothing, the approved values, and no secret in any text."""
