"""Activity and the reverse sweep of the generic tier; passes over programs are in `fast.passes`."""
