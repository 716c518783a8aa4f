"""What a program over private arrays means: its graph, what is known of every array, its formats, rules and costs."""
