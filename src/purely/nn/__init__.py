"""The network engine: many small networks of one shape, trained together in one stack.

The modules load torch; nothing above this package does so before a network is trained.
"""
