"""Changes of a tree that keep its meaning and move work to where it is cheaper or shows less."""
