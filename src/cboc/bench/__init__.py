"""The evidence: the paper's experiments, its rivals, and what they measure."""
