"""Single assignment: the form that programs have, and what is known of it."""
