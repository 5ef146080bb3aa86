"""The glossary: every notebook links a term where it uses it first, and every link leads there."""

from __future__ import annotations

import re

from tests.glossary import PAGE, links, terms, texts, unlinked
from tests.source_trees import ROOT

NOTEBOOKS = [path for path in sorted((ROOT / "notebooks").rglob("*.ipynb")) if path != PAGE]
NOTEBOOKS = [path for path in NOTEBOOKS if ".ipynb_checkpoints" not in path.parts]
TERMS = terms()


def test_terms_are_in_order_and_short() -> None:
    names = [term.name for term in TERMS]
    assert len(names) == len(set(names)) > 40
    assert names == sorted(names, key=str.casefold)
    for term in TERMS:
        assert term.text.endswith(".")
        sentences = re.split(r"(?<=[.!?]) ", term.text)
        assert len(sentences) <= 2, term.name
        assert len(term.text) < 300, term.name


def test_the_first_use_of_each_term_is_a_link() -> None:
    found = {path.name: unlinked(path, TERMS) for path in NOTEBOOKS}
    assert {name: terms for name, terms in found.items() if terms} == {}


def test_every_link_leads_to_a_term() -> None:
    known = {term.anchor for term in TERMS}
    for path in NOTEBOOKS:
        text = "\n".join(texts(path))
        assert "glossary.ipynb" in text, path
        anchors = list(links(text))
        assert set(anchors) <= known, path
        assert len(anchors) == len(set(anchors)), f"{path}: only the first use is a link"


def test_a_use_is_seen_and_what_is_no_text_is_not() -> None:
    (credit,) = [term for term in TERMS if term.name == "credit"]
    (sst,) = [term for term in TERMS if term.name == "SST/macro"]
    assert credit.pattern().search("a port has Credits")
    assert not credit.pattern().search("accredited, credit/debit, credit.py")
    assert sst.pattern().search("SST/macro's digits, or by SST/macro.")
    assert not sst.pattern().search("sst/macro, SST/macros.h")
