"""Traces of MPI calls: lines of text to numbers, and the plain ones of them to calls.

``scan`` cuts the lines of a rank's file into numbers; ``follow`` makes calls of lines until one
needs Python; ``joined`` fits receives to their messages and numbers the requests of a program. All
arithmetic stays within int64, so that plain Python counts the same.
"""
