"""What is publicly known of a relation: declarations, fields, row bounds, sizes, readers, unique keys, widths."""
