"""A campaign against nutgraf that anyone can run: `make campaign MINUTES=10`. See SECURITY.md.

    kills     lives of a whole tiny run, ended at random moments: the bytes must be those of an undisturbed run
    disks     full disks, I/O errors at each system call in turn, folders that cannot be written to
    readers   fuzzed texts, pairs, recipes, manifests, weights, command lines: one-line errors, no traceback, no hang

Each part is a module with `attack(stage)`. All randomness comes from one seed, which is printed.
"""
