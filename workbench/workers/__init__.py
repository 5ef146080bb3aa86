"""Work in pieces, done by processes of this machine or by the workers of a Dask cluster.

A piece is named, and whoever does it holds that name in a database, so that several machines may
do the pieces of one work; what it comes to is in the database before it is reported.
"""
