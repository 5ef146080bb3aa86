// The loops of kernels/sweep/passes.py and lanes.py, for comparison: the same streams, C++ -O3.
#include <algorithm>
#include <cstdint>

namespace {

enum { RECV = 0, SEND = 2, CALC = 4, JOIN = 6, TAKE = 8, MEET = 10, PUT = 12, TO_LATEST = 1 };

template <int K>
void sweep(const uint32_t* code, int64_t n, int width, const uint16_t* slot, const uint16_t* row,
           const int32_t* calc, const int64_t* table, int64_t own, int64_t per_ns,
           int64_t* __restrict registers, int64_t* __restrict slots) {
    const uint32_t mask = (1u << width) - 1;
    for (int64_t i = 0; i < n; ++i) {
        const uint32_t word = code[i];
        const uint32_t kind = word >> (2 * width);
        int64_t* target = registers + K * size_t(word & mask);
        const int64_t* source = registers + K * size_t((word >> width) & mask);
        int64_t x[K];
        for (int k = 0; k < K; ++k) x[k] = source[k];
        if (kind <= RECV + TO_LATEST) {
            const int64_t* m = slots + K * size_t(*slot++);
            for (int k = 0; k < K; ++k) x[k] = std::max(x[k], m[k]) + own;
        } else if (kind <= SEND + TO_LATEST) {
            int64_t* m = slots + K * size_t(*slot++);
            const int64_t* cost = table + K * size_t(*row++);
            for (int k = 0; k < K; ++k) m[k] = x[k] + cost[k];
            for (int k = 0; k < K; ++k) x[k] += own;
        } else if (kind <= CALC + TO_LATEST) {
            const int64_t added = *calc++ * per_ns;
            for (int k = 0; k < K; ++k) x[k] += added;
        } else if (kind >= TAKE) {
            int64_t* m = slots + K * size_t(*slot++);
            const int64_t* cost = table + K * size_t(*row++);
            if (kind < MEET)
                for (int k = 0; k < K; ++k) x[k] = m[k];
            else if (kind < PUT)
                for (int k = 0; k < K; ++k) x[k] = std::max(x[k], m[k]);
            for (int k = 0; k < K; ++k) x[k] += cost[k];
            if (kind >= MEET) {
                for (int k = 0; k < K; ++k) m[k] = x[k];
                if (kind == PUT) continue;
            }
        }
        if (kind & TO_LATEST)
            for (int k = 0; k < K; ++k) x[k] = std::max(x[k], target[k]);
        for (int k = 0; k < K; ++k) target[k] = x[k];
    }
}

}  // namespace

#define ARGUMENTS                                                                             \
    const uint32_t *code, int64_t n, int width, const uint16_t *slot, const uint16_t *row,    \
        const int32_t *calc, const int64_t *table, int64_t own, int64_t per_ns, int64_t *r,   \
        int64_t *s

extern "C" void sweep_1(ARGUMENTS) {
    sweep<1>(code, n, width, slot, row, calc, table, own, per_ns, r, s);
}
extern "C" void sweep_8(ARGUMENTS) {
    sweep<8>(code, n, width, slot, row, calc, table, own, per_ns, r, s);
}
