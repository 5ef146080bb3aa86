"""All hops at once: against breadth-first search, one source at a time."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels import allpairs
from tests.kernels.networks import networks, rows
from tests.reference import networks as reference


def distances(links, routers):
    """Return the hops and the status."""
    start, neighbour, _ = rows(links, routers)
    hops = np.empty((routers, routers), np.uint8)
    return allpairs.distances(start, neighbour, hops), hops


def histograms(links, routers, hosts, lengths=300):
    """Return pairs of routers and of hosts by distance, and the greatest."""
    start, neighbour, _ = rows(links, routers)
    found = np.zeros((2, lengths), np.int64)
    hosts = np.array(hosts, np.int64)
    planes = max(int(hosts.max()).bit_length(), 1)
    last = [
        allpairs.histogram(start, neighbour, hosts, planes, first, found[0], found[1])
        for first in range(0, routers, allpairs.SOURCES)
    ]
    return found, last


@given(st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1])))
def test_bits_are_counted(word):
    assert allpairs.count_bits(np.uint64(word)) == word.bit_count()


@given(networks())
def test_distances_are_those_of_a_search_from_each_router(drawn):
    routers, links = drawn
    short, hops = distances(links, routers)
    expected = reference.hops(links, routers)
    assert short
    np.testing.assert_array_equal(hops, np.where(expected < 0, allpairs.UNREACHED, expected))


@given(networks(), st.data())
def test_histograms_count_the_same_pairs(drawn, data):
    routers, links = drawn
    hosts = data.draw(st.lists(st.integers(0, 9), min_size=routers, max_size=routers))
    found, last = histograms(links, routers, hosts)
    expected = reference.hops(links, routers)
    pairs = np.outer(hosts, hosts)
    for away in range(10):
        assert found[0, away] == (expected == away).sum()
        assert found[1, away] == pairs[expected == away].sum()
    assert last == [expected.max()]


@pytest.mark.parametrize("routers", [63, 64, 65, 130])
def test_sources_fill_words_and_parts_of_words(routers):
    ring = [(i, (i + 1) % routers) for i in range(routers)]
    _, hops = distances(ring, routers)
    steps = np.abs(np.subtract.outer(np.arange(routers), np.arange(routers)))
    np.testing.assert_array_equal(hops, np.minimum(steps, routers - steps))


@pytest.mark.jit_only
@pytest.mark.parametrize("routers", [511, 512, 513, 1300])
def test_sources_fill_blocks_and_parts_of_blocks(routers):
    tree = [(i, (i - 1) // 3) for i in range(1, routers)]
    short, hops = distances(tree, routers)
    assert short
    np.testing.assert_array_equal(hops, reference.hops(tree, routers))
    found, last = histograms(tree, routers, np.arange(routers) % 5)
    np.testing.assert_array_equal(found[0], np.bincount(hops.ravel(), minlength=300))
    assert max(last) == hops.max()


def test_dense_words_are_written_like_sparse_ones():
    """A full network reaches 63 sources of a word at once, a star one and then the others."""
    full = [(i, j) for i in range(100) for j in range(i)]
    star = [(0, i) for i in range(1, 100)]
    for links, away in ((full, 1), (star, 2)):
        _, hops = distances(links, 100)
        assert hops.max() == away
        np.testing.assert_array_equal(hops, reference.hops(links, 100))


@pytest.mark.jit_only
def test_255_links_are_too_many():
    for links, short in ((254, True), (255, False)):
        chain = [(r, r + 1) for r in range(links)]
        assert distances(chain, links + 1)[0] == short


def test_a_histogram_says_when_its_lengths_are_too_few():
    chain = [(r, r + 1) for r in range(5)]
    assert histograms(chain, 6, [1] * 6, lengths=6)[1] == [5]
    assert histograms(chain, 6, [1] * 6, lengths=5)[1] == [-1]
