"""A campaign against nutgraf that anyone can run: `make campaign MINUTES=10`. See SECURITY.md.

    kills     lives of a whole tiny run, ended at random moments: the bytes must be those of an undisturbed run
    disks     full disks, I/O errors at each system call in turn, folders that cannot be written to
    memory    too little memory: a growing limit, and allocations that fail
    readers   fuzzed texts, pairs, recipes, manifests, weights, command lines: one-line errors, no traceback, no hang
    server    a soak of the server: requests of all kinds, hang-ups, slow clients; answers, memory, descriptors

Each part is a module with `attack(stage)`. All randomness comes from one seed, which is printed.
"""
