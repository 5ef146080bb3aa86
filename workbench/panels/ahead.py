"""Panels loaded before there is a kernel: in a process of which kernels are copies."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

import ipywidgets as widgets

from workbench import datasets, panels
from workbench.plotting.embedding import show_by_themselves, standalone_html


def load() -> None:
    """Import all panels and draw a figure, which loads what draws; no widget is left."""
    for module in walk_packages(panels.__path__, f"{panels.__name__}."):
        import_module(module.name)
    standalone_html(datasets.load("azure-hb96v3-hdr").plot(), title="")


def connect() -> None:
    """Connect widgets and figures to the kernel of this process, as importing them in it does."""
    widgets.register_comm_target()
    show_by_themselves()
