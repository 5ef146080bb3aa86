"""Random models for tests: small, and often short of credits, buffers or bandwidth."""

from hypothesis import strategies as st

from workbench.models import (
    PISCES,
    SNAPPR,
    LogP,
    LogPMemory,
    LogPOverlay,
    MPIProtocol,
    NullMemory,
    Processor,
    SnapprMemory,
)

rates = st.floats(1e9, 50e9)
times = st.one_of(st.just(0.0), st.floats(1e-9, 5e-6))
delays = st.one_of(st.just(0.0), st.floats(0, 2e-6))
mtus = st.one_of(st.sampled_from([64, 512, 4096]), st.integers(64, 9000))
variants = st.sampled_from(["sstmacro", "repaired"])
negligible_sizes = st.sampled_from([0, 0, 2, 64, 256, 700, 5000])

protocols = st.builds(
    MPIProtocol,
    max_vshort_msg_size=st.sampled_from([0, 64, 512, 8192]),
    max_eager_msg_size=st.sampled_from([64, 1024, 8192, 100_000]),
    post_header_delay=delays,
    post_rdma_delay=delays,
    rdma_pin_latency=delays,
    rdma_page_delay=st.sampled_from([0.0, 5e-9]),
)
overlays = st.builds(LogPOverlay, bandwidth=rates, out_in_latency=times, hop_latency=times)
processors = st.builds(Processor, frequency=st.floats(0.5e9, 5e9))
memories = st.one_of(
    st.builds(LogPMemory, bandwidth=rates, latency=times),
    st.builds(SnapprMemory, channel_bandwidth=rates, num_channels=st.integers(1, 3)),
)


@st.composite
def common(draw):
    variant = draw(variants)
    memory = draw(st.one_of(memories, st.just(NullMemory())) if variant == "repaired" else memories)
    return {
        "variant": variant,
        "memory": memory,
        "mpi": draw(protocols),
        "processor": draw(processors),
        "negligible_size": draw(negligible_sizes),
        "injection_bandwidth": draw(rates),
        "injection_latency": draw(times),
    }


def credits_for(mtu):
    """Credits for one packet or a few, so that they often bind."""
    least = max(mtu, 64)
    return st.one_of(st.just(least), st.integers(least, 20 * least))


@st.composite
def snapprs(draw):
    mtu = draw(mtus)
    flow = draw(st.sampled_from([True, True, True, False]))
    congestion = flow or draw(st.booleans())
    return SNAPPR(
        **draw(common()),
        mtu=mtu,
        nic_bandwidth=draw(rates),
        nic_credits=draw(credits_for(mtu)),
        nic_buffer=draw(st.one_of(st.just(4_000_000), credits_for(mtu))),
        nic_flow_control=flow,
        switch_flow_control=flow,
        congestion=congestion,
        ejection_latency=draw(times),
        switch_credits=draw(credits_for(mtu)),
        link_bandwidth=draw(rates),
        injection_flit_size=draw(st.sampled_from([0, 0, 16])),
        link_flit_size=draw(st.sampled_from([0, 0, 16])),
        logp=draw(overlays),
    )


@st.composite
def pisceses(draw):
    mtu = draw(mtus)
    arbitrators = st.sampled_from(["simple", "null", "cut_through"])
    return PISCES(
        **draw(common()),
        mtu=mtu,
        switch_mtu=mtu,
        nic_credits=draw(credits_for(mtu)),
        injection_arbitrator=draw(arbitrators),
        # With no latency at all the clock that PISCES sets back (see kernels/two_node/arbiters.py)
        # falls below 0, where SST/macro's wraps to the end of time.
        ejection_latency=draw(st.floats(1e-9, 5e-6)),
        link_bandwidth=draw(rates),
        link_credits=draw(credits_for(mtu)),
        link_arbitrator=draw(arbitrators),
        xbar_bandwidth=draw(rates),
        xbar_arbitrator=draw(arbitrators),
        logp=draw(overlays),
    )


@st.composite
def tailing_pisceses(draw):
    """PISCES as SST/macro has it, with a memory of channels that a clock set back finds busy."""
    mtu = draw(st.sampled_from([5, 12, 64, 64, 64, 512]))
    credits = st.sampled_from([max(mtu, 64), max(mtu, 64) + 7, 100_000])
    memory = st.builds(
        SnapprMemory,
        channel_bandwidth=rates,
        num_channels=st.integers(1, 4),
        flow_mtu=st.sampled_from([64, 100, 512]),
    )
    return draw(pisceses()).replace(
        variant="sstmacro",
        memory=draw(memory),
        mtu=mtu,
        switch_mtu=mtu,
        nic_credits=draw(credits),
        link_credits=draw(credits),
    )


@st.composite
def logps(draw):
    return LogP(
        **draw(common()),
        bandwidth=draw(rates),
        out_in_latency=draw(times),
        hop_latency=draw(times),
    )


models = st.one_of(snapprs(), snapprs(), pisceses(), logps())
