from numba.extending import register_jitable


@register_jitable
def prefetch(a, i):
    pass
