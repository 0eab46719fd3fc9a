"""What everything stands on: tensors, the graph, the backward pass, and how an operation is declared."""
