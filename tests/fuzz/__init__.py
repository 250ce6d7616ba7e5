"""Random programs, written by a grammar: ``python -m tests.fuzz 5000 --seed 1``.

The folder ``grammar`` says what Python the programs consist of; ``templates`` reads it, ``writer``
expands it by choices that hypothesis draws, ``check`` holds a program to what a pullback promises,
and ``batches`` runs many of them and makes those that fail small.
"""
