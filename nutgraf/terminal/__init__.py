"""What people see in a terminal: the progress of a training, and what a summary rests on."""
