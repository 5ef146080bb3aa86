"""Compiled kernels: arrays in, arrays out. They know no file, no table and no widget."""
