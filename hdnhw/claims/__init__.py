"""Every table, theorem and numeric claim of the five papers, each with a check that computes it."""
