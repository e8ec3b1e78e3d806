"""What prioritisation works on: tests as parameters, their subspaces, a greedy cover, metrics, a replay."""
