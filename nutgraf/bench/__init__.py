"""How fast the shipped code is on the machine at hand, against plain references measured in the same run."""
