"""The rivals: other ways of collaborating, or of not doing so, under the same conditions as ours."""
