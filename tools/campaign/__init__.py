"""A campaign against nutgraf that anyone can run: `make campaign MINUTES=10`. See SECURITY.md.

    server    a soak of the server: requests of all kinds, hang-ups, slow clients; answers, memory, descriptors

Each part is a module with `attack(stage)`. All randomness comes from one seed, which is printed.
"""
