"""Arguments and results of a run on a level, and their derivatives as structures."""
