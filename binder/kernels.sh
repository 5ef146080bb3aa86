# Sourced by postBuild and start: where compiled kernels are kept, and for which processors.
#
# The machine that builds an image is not the one that runs it, and numba ignores what was compiled
# for a processor of another name or with other features. So kernels are compiled for a level that
# many processors have: x86-64-v3 (AVX2, since 2013 and 2015) where the building machine has it.
# A cache is made of pickles, which run what they say when they are read: it stays in the image that
# has made it, and none is ever taken from elsewhere.
export NUMBA_CACHE_DIR="$HOME/.numba/interconnect-workbench"
CPUINFO="${CPUINFO:-/proc/cpuinfo}"
COMPILED_FOR="$NUMBA_CACHE_DIR/compiled-for"

has_x86_64_v3() {
  local flags flag
  flags=" $(grep -m 1 '^flags' "$CPUINFO") "
  for flag in avx avx2 bmi1 bmi2 f16c fma abm movbe; do
    case "$flags" in *" $flag "*) ;; *) return 1 ;; esac
  done
}

compile_for() {
  export NUMBA_CPU_NAME="$1"
  export NUMBA_CPU_FEATURES=""
}
