# `make help` lists the targets. Everything made here stays in .venv and .cache.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PY := .venv/bin/python

# A virtual environment cannot be moved, so a stamp holds for one directory only.
HERE := $(shell pwd | cksum | cut -d' ' -f1)
NUMBA_STAMP := .venv/.numba-$(HERE)
LAB_STAMP := .venv/.lab-$(HERE)
TEST_STAMP := .venv/.test-$(HERE)
SITE_STAMP := .venv/.site-$(HERE)
PACKAGES := $(LAB_STAMP)

# Without bytecode on disk each kernel of a notebook compiles the workbench's source again.
export PYTHONDONTWRITEBYTECODE :=

# Targets are relative: make takes a folder's name with a space in it for two.
KERNELS := $(shell find kernels -name '*.py')
NETWORKS_STAMP := .cache/.networks-$(HERE)
PROGRAMS_STAMP := .cache/.programs-$(HERE)
WARM_STAMPS := $(NETWORKS_STAMP) $(PROGRAMS_STAMP)

# Bytecode is made where a module is first imported: 21 of 50 s of pip's processor time.
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
PIP_INSTALL := $(PY) $(PIP) --constraint constraints.txt

# One process runs the tests of a file, whose fixtures it makes once, and the files in their order.
IN_PARALLEL := --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

TESTS := browser-tests tests-of-panels tests-of-kernels tests-of-fits tests-of-causes tests-of-programs other-tests

.PHONY: help lab workshop install test $(TESTS) test-oldest test-debian13 bytecode lint types system-programs kernels-uncompiled bench bench-all deep fuzz pictures studies search-comparison paper-scale variability whole-machine findings validation site slurm-demo binder-check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' Makefile

# The kernels are compiled behind JupyterLab, which takes the place of this shell, by its number the
# warm-up sees when it ends. A failed warm-up harms nothing: notebooks compile what they need.
lab: PORT ?= 8888
lab: install ## install, then open JupyterLab on notebooks/00-start-here.ipynb (PORT=8888)
	@if ! $(MAKE) --no-print-directory --question $(WARM_STAMPS); then \
	  echo "Compiling the kernels behind JupyterLab at low priority (once, a few minutes). Meanwhile a" \
	    "notebook that needs one waits some seconds for it."; \
	  mkdir -p .cache; \
	  { nice -n 10 $(PY) -m workbench.warmup --while $$$$ && touch $(WARM_STAMPS); } & \
	fi; \
	options="--ip=127.0.0.1 --port=$(PORT)"; \
	if [ "$$(id -u)" = 0 ]; then options="$$options --allow-root"; fi; \
	if [ "$$(uname)" != Darwin ] && [ -z "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
	  options="$$options --no-browser"; \
	  echo "No display here: open the address that JupyterLab prints below (Ctrl-C ends it)."; \
	fi; \
	for_voila="$(CURDIR)/workbench/workshop/jupyter"; \
	export JUPYTER_PATH="$$for_voila/share$${JUPYTER_PATH:+:$$JUPYTER_PATH}"; \
	export JUPYTER_CONFIG_PATH="$$for_voila/etc$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}"; \
	exec $(PY) -m jupyterlab $$options \
	  --ServerApp.root_dir="$(CURDIR)" \
	  --LabApp.extension_manager=readonly \
	  --LabApp.default_url=/lab/tree/notebooks/00-start-here.ipynb \
	  --MappingKernelManager.cull_idle_timeout=14400 \
	  --MappingKernelManager.cull_interval=300

PEOPLE ?= 30
ADDRESS ?= 127.0.0.1
workshop: PORT ?= 8866
workshop: $(LAB_STAMP) $(WARM_STAMPS) ## serve the notebooks as pages for a class (PEOPLE=30, ADDRESS=127.0.0.1, PORT=8866)
	@exec .venv/bin/workbench workshop --people "$(PEOPLE)" --address "$(ADDRESS)" --port "$(PORT)"

install: $(LAB_STAMP) ## make .venv with the pinned versions, without opening anything

# First what all tests need, which no process has to make again; three at once leave no processor
# idle. A package without a wheel for this Python needs the compiler of the system's programs.
test: .venv/bin/pip ## install, then run lint, types and every test
	@$(MAKE) --no-print-directory --jobs=2 $(NUMBA_STAMP) system-programs
	@$(MAKE) --no-print-directory --jobs=3 PACKAGES=$(TEST_STAMP) \
	  $(TEST_STAMP) $(WARM_STAMPS) bytecode lint
	@$(MAKE) --no-print-directory --jobs types kernels-uncompiled $(TESTS)

# One process each, more than processors, for many tests wait: for kernels of notebooks, a page, MPI
# and Slurm. Processes of pytest-xdist would each read all files and, in a fresh clone, each compile
# them with pytest's assertions: 23 s of processor time.
PANELS := tests/notebooks tests/unit/panels
KERNELS_AND_HOUSE := $(addprefix tests/,conformance fuzz house kernels property)
FITS := $(addprefix tests/unit/,fit plotting study tune)
CAUSES := $(addprefix tests/unit/,uq variability)
PROGRAMS := tests/slurm $(addprefix tests/unit/,measure mpi programs/recording validation)
SOME_TESTS = $(PY) -m pytest --quiet -m "not deep" --durations=10 --cpu-times=20

# More processes than processors: threads of linear algebra would wait for one another, busily
# (surrogates of notebook 08: 7.0 s of processor time, 4.5 with one thread).
$(TESTS): export OPENBLAS_NUM_THREADS := 1
tests-of-panels:
	$(SOME_TESTS) $(PANELS)
tests-of-kernels:
	$(SOME_TESTS) $(KERNELS_AND_HOUSE)
tests-of-fits:
	$(SOME_TESTS) $(FITS)
tests-of-causes:
	$(SOME_TESTS) $(CAUSES)
tests-of-programs:
	$(SOME_TESTS) $(PROGRAMS)
other-tests:
	$(SOME_TESTS) $(addprefix --ignore=,tests/benchmarks tests/browser \
	  $(PANELS) $(KERNELS_AND_HOUSE) $(FITS) $(CAUSES) $(PROGRAMS))

# One process, so that one JupyterLab, one kernel and one page serve nearly all of them.
browser-tests:
	@WORKBENCH_CHROMIUM="$$(.ci/chromium)" && export WORKBENCH_CHROMIUM && \
	$(SOME_TESTS) tests/browser

test-debian13: ## run make test on Debian 13, in a chroot under .cache (root, debootstrap)
	@.ci/debian13

system-programs:
	@.ci/chromium >/dev/null && .ci/programs

# Once, where each of the processes of tests would take 3 to 5 s for it.
bytecode: $(TEST_STAMP)
	@$(PY) -m pytest --quiet --collect-only tests >/dev/null

lint: $(TEST_STAMP)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(TEST_STAMP)
	$(PY) -m mypy

# The kernels as plain Python: what compilation hides (an index out of bounds) shows here.
kernels-uncompiled: $(TEST_STAMP)
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest --quiet tests/kernels \
	  --hypothesis-profile=plain -m "not deep and not jit_only"

# Its venv and its kernels are its own; what one version of a tool reports of our own code is no matter.
OLDEST := .cache/oldest/bin/python
test-oldest: system-programs $(TEST_STAMP) ## run the tests without a browser on the oldest allowed versions (Python 3.11)
	@$(OLDEST) -c 1 2>/dev/null || "$${PYTHON:-python3.11}" -m venv --clear .cache/oldest
	$(OLDEST) $(PIP) --constraint constraints-oldest.txt --editable '.[test]'
	NUMBA_CACHE_DIR="$(CURDIR)/.cache/oldest/numba" OPENBLAS_NUM_THREADS=1 \
	  $(OLDEST) -m pytest --quiet --ignore=tests/benchmarks --ignore=tests/house --benchmark-disable \
	  -m "not deep and not browser" $(IN_PARALLEL)

bench: $(TEST_STAMP) ## print speeds, memory and waiting times beside their targets (25 minutes; SSTMACRO=, LOGGOPSIM=, SCHEDGEN=)
	@WORKBENCH_CHROMIUM="$$(.ci/chromium)" && export WORKBENCH_CHROMIUM && \
	$(PY) -m pytest tests/benchmarks -m table --quiet

bench-all: $(TEST_STAMP) ## print every rate that is measured (half an hour)
	@WORKBENCH_CHROMIUM="$$(.ci/chromium)" && export WORKBENCH_CHROMIUM && \
	$(PY) -m pytest tests/benchmarks --capture=no

# The standard run draws the same examples every time; luck belongs here. The seed alone decides what
# a round draws, and each failure is printed with its @reproduce_failure.
ROUNDS ?= 5
deep: $(TEST_STAMP) $(SITE_STAMP) ## the longer tests, then a search for failing examples with new seeds (ROUNDS=5, SEED=)
	@WORKBENCH_CHROMIUM="$$(.ci/chromium)" && export WORKBENCH_CHROMIUM && \
	$(PY) -m pytest --quiet --ignore=tests/benchmarks -m deep $(IN_PARALLEL)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(CURDIR)/.cache/numba-bounds" \
	  $(PY) -m pytest --quiet tests/kernels tests/unit/topology tests/unit/tolerance tests/unit/placement tests/unit/uq \
	  -m "not deep" $(IN_PARALLEL)
	@for round in $$(seq $(ROUNDS)); do \
	  seed=$${SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; \
	  echo "round $$round of $(ROUNDS); the same again: make deep ROUNDS=1 SEED=$$seed"; \
	  $(PY) -m pytest --quiet tests -m "hypothesis and not browser" --ignore=tests/benchmarks \
	    --hypothesis-profile=deep --hypothesis-seed=$$seed \
	    --timeout=0 $(IN_PARALLEL) || exit; \
	done

fuzz: $(TEST_STAMP) ## read 300,000 damaged GOAL, binary and trace files (minutes)
	$(PY) -m tests.fuzz --count 300000 --seed 0

studies: $(LAB_STAMP) ## make the shipped studies and profiles again (hours; goes on where it was)
	@mkdir -p .cache
	@for folder in datasets/studies/*/; do \
	  .venv/bin/workbench study run $${folder}plan.yaml --save $$folder \
	    --database .cache/$$(basename $$folder).db || exit; \
	done
	@$(PY) -c "from workbench.fit import intervals, write_machines; \
	  write_machines('datasets/machines', intervals=intervals)"

pictures: $(TEST_STAMP) ## make the pictures of notebooks that have none, for the start page (remove one to make it anew)
	@WORKBENCH_CHROMIUM="$$(.ci/chromium)" && export WORKBENCH_CHROMIUM && \
	$(PY) -m tests.browser.pictures

search-comparison: $(LAB_STAMP) ## compare ways to search on the recorded spaces again (hours; goes on where it was)
	@mkdir -p .cache
	.venv/bin/workbench tune compare-searches --rows .cache/search-comparison.db --jobs 2 \
	  --save datasets/tuning/which-heuristic

paper-scale: $(LAB_STAMP) ## compare searches at the scale of SHAMan's paper, simulated (15 min; goes on where it was)
	@mkdir -p .cache/paper-scale
	@for ranks in 12 576; do .venv/bin/workbench tune record simulated \
	  .cache/paper-scale/simulated-$$ranks-ranks --ranks $$ranks \
	  --sizes 4096,8192,16384,32768,65536,131072,262144,524288,1048576 || exit; done
	.venv/bin/workbench tune compare-searches \
	  --recording .cache/paper-scale/simulated-12-ranks \
	  --recording .cache/paper-scale/simulated-576-ranks \
	  --heuristics surrogate-gp,annealing,genetic,random --resamplings none \
	  --stoppings 'best improvement 15' --noise normal:0.05 --seeds 10 --budget 150 --reruns 100 \
	  --jobs 2 --rows .cache/paper-scale/rows.db --save datasets/tuning/paper-scale

variability: $(LAB_STAMP) ## make runs with known causes, reports on them and scores of blame again (hours)
	@mkdir -p .cache/worlds
	@for program in umt-128 minivite-128 amg-128 amg-512 milc-128 milc-512; do \
	  .venv/bin/workbench variability generate --application $$program \
	    --output .cache/worlds/$$program || exit; \
	  .venv/bin/workbench variability report .cache/worlds/$$program \
	    --save datasets/variability/reports/$$program.json || exit; \
	done
	.venv/bin/workbench variability report emulated-link \
	  --save datasets/variability/reports/emulated-link.json
	.venv/bin/workbench variability score --worlds 20 --store .cache/blame-scores \
	  --save datasets/variability/blame-scores/scores.json

whole-machine: $(LAB_STAMP) ## hold predictions from two nodes against published collectives again (seconds)
	.venv/bin/workbench predict evaluate --save datasets/predictions/errors.json

findings: $(LAB_STAMP) ## judge the papers' claims on the shipped studies again (minutes)
	.venv/bin/workbench uq coverage --save datasets/coverage/collectives.json
	.venv/bin/workbench papers judge --save datasets/findings

validation: $(LAB_STAMP) ## measure on the emulated cluster again (half an hour, root; goes on where it was)
	@mkdir -p .cache/validation
	.venv/bin/workbench validate messages --mpirun mpirun.openmpi --output datasets/validation/two-messages.json
	@for ranks in 4 8; do \
	  for program in cg halo2d master_worker ring_pipeline transpose; do \
	    traces=0; [ $$program != master_worker ] || traces=0,1ms,4ms; \
	    .venv/bin/workbench validate measure $$program --ranks $$ranks --mpirun mpirun.openmpi \
	      --traces $$traces --output .cache/validation/$$program-$$ranks || exit; \
	    cp -r .cache/validation/$$program-$$ranks datasets/validation/ || exit; \
	  done; \
	  .venv/bin/workbench validate collectives --ranks $$ranks --mpirun mpirun.openmpi \
	    --output datasets/validation-collectives/open-mpi-$$ranks.json || exit; \
	done

site: export OPENBLAS_NUM_THREADS := 1
site: .venv/bin/pip ## make the web site in .cache/site/html: notebooks, papers, reference, search (5 minutes, then one; SOLUTIONS=no, REPOSITORY=owner/name)
	@$(MAKE) --no-print-directory --jobs=3 PACKAGES=$(SITE_STAMP) $(SITE_STAMP) $(WARM_STAMPS)
	$(PY) -m workbench.site $(if $(filter no,$(SOLUTIONS)),--no-solutions) --repository "$(REPOSITORY)"

slurm-demo: $(TEST_STAMP) ## tune a copy and a sort through a one-node Slurm on loopback
	@.ci/programs && $(PY) -m tests.slurm.demo

binder-check: $(TEST_STAMP) ## say what repo2docker would build, without building it
	$(PY) -m repo2docker --no-build --debug .

clean: ## remove .venv, caches and everything else that make has made
	rm -rf .venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache .benchmarks
	rm -rf build dist test-results screenshots
	find workbench kernels tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/pip:
	@for python in "$(PYTHON)" python3 python3.13 python3.12 python3.11; do \
	  [ -n "$$python" ] || continue; \
	  "$$python" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	    2>/dev/null || continue; \
	  echo "making .venv with $$("$$python" --version)"; \
	  exec "$$python" -m venv --clear .venv; \
	done; \
	echo "Python 3.11, 3.12 or 3.13 with its venv module is needed; python3 is" \
	  "$$(python3 --version 2>&1 || echo missing). Install one (Debian, Ubuntu:" \
	  "apt-get install python3 python3-venv), or name one: make PYTHON=/path/to/python3.12" >&2; \
	exit 1

INSTALLED := pyproject.toml constraints.txt binder/overrides.json

define FINISH_LAB
@$(PY) -m ipykernel install --sys-prefix --name python3 >/dev/null
@mkdir -p .venv/share/jupyter/lab/settings
@cp binder/overrides.json .venv/share/jupyter/lab/settings/overrides.json
@touch $(LAB_STAMP)
endef

# What compiles the networks' kernels, so that this begins while the rest is installed.
$(NUMBA_STAMP): $(INSTALLED) | .venv/bin/pip
	@echo "installing the pinned versions into .venv (once, a minute or two)"
	$(PIP_INSTALL) filelock numba pyyaml scipy
	@touch $@

$(LAB_STAMP): $(INSTALLED) | $(NUMBA_STAMP)
	@$(PY) -m workbench.warmup first --while $$$$ & \
	$(PIP_INSTALL) --editable .
	$(FINISH_LAB)
	@# Behind: JupyterLab starts 1.7 s later without its bytecode.
	@nice -n 19 $(PY) -m compileall -q -j 2 .venv/lib >/dev/null 2>&1 &

$(TEST_STAMP) $(SITE_STAMP): .venv/.%-$(HERE): $(INSTALLED) | $(NUMBA_STAMP)
	$(PIP_INSTALL) --editable '.[$*]'
	$(FINISH_LAB)
	@touch $@

$(NETWORKS_STAMP): | $(NUMBA_STAMP)
$(PROGRAMS_STAMP): | $(PACKAGES)
$(WARM_STAMPS): .cache/.%-$(HERE): $(KERNELS)
	@echo "compiling the kernels of $* (once for each version of them)"
	@mkdir -p "$(@D)"
	@$(PY) -m workbench.warmup $* && touch "$@" || true
