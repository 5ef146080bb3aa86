"""The web site of the project: executed notebooks whose figures are alive, and the reference.

``make site`` builds it with Sphinx, MyST-NB and Furo: they are maintained, ask no other machine,
and search works from a folder of files. Tried beside them, Material for MkDocs ends in May 2027 and
its offline search loads a script from unpkg; Jupyter Book 2 fetches its theme while it builds.

Notebooks are executed here and not by MyST-NB, so that a panel is recorded while its kernel lives.
"""

from __future__ import annotations
