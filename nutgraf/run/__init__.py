"""The run folder: names of models, the plan, the keys of steps, what is done and what it was made from."""
