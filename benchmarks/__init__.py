"""Speed as ratios in one run: ours against a peer, the plain way, or the floor."""
