# SPDX-License-Identifier: GPL-2.0-only
# pgscan: the only makefile of user space; Kbuild lives under kmod/ alone. `make help` lists the targets.

VERSION := 0.1.0

PREFIX  ?= /usr/local
DESTDIR ?=
O       ?= build
ifeq ($(origin CC),default)
CC      := gcc
endif
PKG_CONFIG ?= pkg-config

CFLAGS   ?= -O2 -g
WARN     := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes $(if $(CI),-Werror)
PKGS     := libcap jansson
cppflags := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DPGSCAN_VERSION='"$(VERSION)"' -Isrc -Ikmod \
            $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS)
cflags   := -std=gnu11 $(WARN) $(CFLAGS)
libs     := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null || echo -lcap -ljansson)

src_objs := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard src/*.c)))
cmd_objs := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard cmd/*.c)))
targets  := $(patsubst tests/targets/%.c,$(O)/targets/%,$(sort $(wildcard tests/targets/*.c))) \
            $(addprefix $(O)/targets/,kmodtest kmodfuzz kmodwrites)
tools    := $(patsubst tests/tools/%.c,$(O)/tools/%,$(sort $(wildcard tests/tools/*.c)))
units    := $(patsubst tests/unit/%.c,$(O)/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
benches  := $(patsubst tests/bench/%.c,$(O)/bench/%,$(sort $(wildcard tests/bench/*.c)))
pages    := $(patsubst man/%.scd,$(O)/man/%,$(sort $(wildcard man/pgscan*.scd)))

# What every script of the tree needs to know about this build.
export O VERSION
export PGSCAN ?= $(abspath $(O))/pgscan

# One line a file; V=1 shows the commands, make -s nothing.
Q   := $(if $(filter 1,$(V)),,@)
say  = $(if $(Q),$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-6s %s\n' $(1) $@))

.DELETE_ON_ERROR:
.PHONY: all help man units benches clean

all: $(O)/pgscan $(targets) $(tools) $(if $(shell command -v scdoc),man)

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make                 pgscan, its man pages and the test targets, in $O (build/)
## make demo            install what is missing, build, show the page map of live processes and, in a guest,
##                      of shared memory in swap
## make check           install what is missing, build, run all the tests, guests included

# ---- the program ------------------------------------------------------------------------------

$(O)/pgscan: $(cmd_objs) $(O)/libpgscan.a
	$(call say,LD)
	$(Q)$(CC) $(cflags) $(LDFLAGS) -o $@ $^ $(libs)

$(O)/libpgscan.a: $(src_objs) | $(O)
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(cppflags) $(cflags) -MMD -MP -c -o $@ $<

# Objects of another compiler or other flags are never mixed: the stamp is remade when they change.
flags := $(CC) $(cppflags) $(cflags) $(LDFLAGS) $(libs)
ifneq ($(flags),$(file <$(O)/flags))
.PHONY: $(O)/flags
endif
$(O)/flags: | $(O)
	$(file >$@,$(flags))

$(O):
	@mkdir -p $@

# ---- what the tests run -----------------------------------------------------------------------

# Never with a sanitizer or coverage: a target's memory is what the test says it is.
test_cflags := -std=gnu11 $(WARN) -O2 -g

# Test targets: small C processes that make a known state of memory.
$(O)/targets/%: tests/targets/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(cppflags) $(test_cflags) -MMD -MP -pthread -o $@ $<

# What runs beside them in a guest to test the module: static, for it must run in any.
$(O)/targets/kmodtest: $(wildcard tests/kmod/kmodtest.c tests/kmod/test_*.c) tests/kmod/kmodtest.h \
		tests/targets/pattern.h kmod/uapi/pgscan.h $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(cppflags) $(test_cflags) -static -o $@ $(filter %.c,$^)

$(O)/targets/kmod%: tests/kmod/%.c tests/kmod/kmodtest.h kmod/uapi/pgscan.h $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(cppflags) $(test_cflags) -static -pthread -o $@ $<

# What the tests compare with: an independent reader, a probe of the kernel.
$(O)/tools/%: tests/tools/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(cppflags) $(test_cflags) -MMD -MP -o $@ $<

# Those that look with the library itself, which may be built with a sanitizer.
$(O)/tools/kmem%: tests/tools/kmem%.c $(O)/libpgscan.a $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(cppflags) $(cflags) $(LDFLAGS) -MMD -MP -o $@ $< $(O)/libpgscan.a $(libs)

# Unit tests: cmocka on libpgscan.a and, where they test the output, on cmd's objects but main's.
test_objs := $(filter-out $(O)/cmd/main.o,$(cmd_objs)) $(O)/libpgscan.a
$(O)/unit/%: tests/unit/%.c $(test_objs) $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(cppflags) -Icmd $(cflags) -MMD -MP -o $@ $< $(test_objs) $(libs) -lcmocka

$(O)/bench/%: tests/bench/%.c $(test_objs) $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(cppflags) -Icmd $(cflags) -MMD -MP -o $@ $< $(test_objs) $(libs)

units: $(units)
benches: $(benches)

-include $(wildcard $(O)/*/*.d)

# ---- man pages --------------------------------------------------------------------------------

# A line "; include common-x.scd" in a page stands for that fragment.
$(O)/man/%: man/%.scd $(wildcard man/common-*.scd) scripts/scd Makefile
	@mkdir -p $(@D)
	$(call say,SCDOC)
	$(Q)scripts/scd $< | scdoc >$@

man: $(pages)

# ---- tests and demonstration ------------------------------------------------------------------

.PHONY: demo demo-host check check-unit check-host check-kmod check-guests check-matrix check-debug check-harness sanitize valgrind lint stress bench bench-guest deps

# The packages come first, in a make of their own: this one has already asked pkg-config.
demo: demo-host
	@echo
	@echo '# Now a QEMU guest, for which the packages and a Debian kernel are fetched the first time.'
	@scripts/deps check guests
	@tests/vm/in-guest v2-6.1 tests/guest/experiment

## make demo-host       the same without the guest with swap
demo-host:
	@scripts/deps build demo
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@scripts/demo

check:
	@scripts/deps build demo check guests dkms
	@$(MAKE) --no-print-directory -j$$(nproc) all units
	@scripts/check host unit kmod guests

## make check-host      the tests that need no guest (check-unit: of src alone)
check-host: all units
	@scripts/check host unit

check-unit: units
	@scripts/check unit

## make check-kmod      the module against the headers of the guests' kernels: W=1, sparse, DKMS
check-kmod: all
	@scripts/deps demo check guests dkms lint
	@scripts/check kmod

## make check-guests    the tests in QEMU guests; GUESTS="v1-6.1" for some of tests/vm/matrix
##      check-matrix    on the newest kernel too
##      check-debug     on a kernel with KASAN, lockdep and UBSAN, built the first time (10 minutes)
##      check-harness   guests broken on purpose: does the harness say so?
check-guests check-matrix check-debug check-harness: all
	@scripts/deps demo check guests
	@$(MAKE) --no-print-directory units
	@scripts/check $(@:check-%=%)

## make vm              a shell in a guest with the module and swap; GUEST=v2-6.12
.PHONY: vm
vm: all
	@scripts/deps demo check guests
	@tests/vm/shell $(GUEST)

## make sanitize        the host tests on a build with AddressSanitizer and UBSan
sanitizers := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
sanitize:
	@scripts/deps build demo check
	@$(MAKE) --no-print-directory O=$(O)/sanitize PGSCAN=$(abspath $(O))/sanitize/pgscan check-host \
		CFLAGS='$(sanitizers)'

## make fuzz            a million spoilt BTFs, core files and VMCOREINFOs, on that build (5 minutes)
.PHONY: fuzz
fuzz:
	@$(MAKE) --no-print-directory O=$(O)/sanitize CFLAGS='$(sanitizers)' \
		$(O)/sanitize/unit/test_btf $(O)/sanitize/unit/test_kmem
	@PGSCAN_FUZZ_RUNS=1000000 $(O)/sanitize/unit/test_btf
	@PGSCAN_FUZZ_RUNS=1000000 $(O)/sanitize/unit/test_kmem

## make valgrind        the host tests with pgscan under valgrind
valgrind:
	@scripts/deps build demo check lint
	@$(MAKE) --no-print-directory -j$$(nproc) all units
	@PGSCAN=$(CURDIR)/scripts/valgrind PGSCAN_BINARY=$(PGSCAN) BATS_TEST_TIMEOUT=900 PGSCAN_TIMEOUT=300 \
		scripts/check host

## make lint            layout, layers, headers, shell scripts, static analysis
lint:
	@scripts/deps build demo check lint
	@scripts/lint

## make stress          the long runs: 10000 samples of each kind of memory, 1000 kills of pgscan
stress: all units
	@TRACK_ROUNDS=10000 $(O)/unit/test_track
	@SLOW=1 BATS_TEST_TIMEOUT=600 tests/run --filter 'killed at random' tests/wp.bats

## make bench           the speed figures, as ratios measured in one run
bench: all benches
	@tests/bench/run

## make bench-guest     what the look-up of swapped shared memory costs, in a guest; GUEST=v2-6.1 PARTS=kmem
bench-guest: all benches
	@scripts/deps demo check guests
	@tests/vm/in-guest $(or $(GUEST),v2-6.12) "tests/bench/guest $(PARTS)"

## make deps            install what all of the above need
deps:
	@scripts/deps build demo check guests lint

# ---- the module ------------------------------------------------------------------------------------

## make kmod            the module for the running kernel, in $O/kmod; KVER= or KDIR= for another
## make kmod-install    as root, after make install: build and install it by DKMS, so that it follows the kernel;
##                      KVER= KDIR= for another kernel, DESTDIR= for another root
.PHONY: kmod kmod-install
kmod:
	@KVER=$(KVER) scripts/deps build $(if $(KDIR),,kmod)
	rm -rf $(O)/kmod && mkdir -p $(O) && cp -r kmod $(O)/kmod
	+$(MAKE) -C $(O)/kmod $(if $(KVER),KVER=$(KVER)) $(if $(KDIR),KDIR=$(KDIR))

dkms_args = --sourcetree $(DESTDIR)$(PREFIX)/src $(if $(KVER),-k $(KVER)) \
            $(if $(KDIR),--kernelsourcedir $(KDIR)) \
            $(if $(DESTDIR),--dkmstree $(DESTDIR)/var/lib/dkms --installtree $(DESTDIR)/lib/modules --no-depmod)

kmod-install:
	@KVER=$(KVER) scripts/deps build $(if $(KDIR),,kmod) dkms
	$(if $(DESTDIR),mkdir -p $(DESTDIR)/var/lib/dkms $(DESTDIR)/lib/modules/$(or $(KVER),$(shell uname -r)))
	dkms install pgscan/$(VERSION) $(dkms_args)

# ---- installation -----------------------------------------------------------------------------

## make install         DESTDIR= PREFIX= (default /usr/local)
.PHONY: install uninstall dist

bindir   := $(DESTDIR)$(PREFIX)/bin
mandir   := $(DESTDIR)$(PREFIX)/share/man
incdir   := $(DESTDIR)$(PREFIX)/include/linux
dkmsdir  := $(DESTDIR)$(PREFIX)/src/pgscan-$(VERSION)
bashdir  := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir   := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir  := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
kmod_src  = $(shell cd kmod && find . -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.in' -o -name Makefile \
            -o -name Kbuild \) ! -name config.h ! -name '*.mod.c')

install: $(O)/pgscan man
	install -D -m 755 $(O)/pgscan $(bindir)/pgscan
	for p in $(pages); do install -D -m 644 $$p $(mandir)/man$${p##*.}/$${p##*/} || exit; done
	install -D -m 644 completions/pgscan.bash $(bashdir)/pgscan
	install -D -m 644 completions/_pgscan $(zshdir)/_pgscan
	install -D -m 644 completions/pgscan.fish $(fishdir)/pgscan.fish
	install -D -m 644 kmod/uapi/pgscan.h $(incdir)/pgscan.h
	for f in $(kmod_src); do install -D -m 644 kmod/$$f $(dkmsdir)/$$f || exit; done
	sed 's/@VERSION@/$(VERSION)/' kmod/dkms.conf.in >$(dkmsdir)/dkms.conf

uninstall:
	rm -f $(bindir)/pgscan $(foreach p,$(pages),$(mandir)/man$(subst .,,$(suffix $(p)))/$(notdir $(p)))
	rm -f $(bashdir)/pgscan $(zshdir)/_pgscan $(fishdir)/pgscan.fish $(incdir)/pgscan.h
	rm -rf $(dkmsdir)

## make dist            a tarball of the last commit, the same bytes every time
dist: | $(O)
	git archive --prefix=pgscan-$(VERSION)/ HEAD | gzip -9n >$(O)/pgscan-$(VERSION).tar.gz

## make clean           remove $O
clean:
	rm -rf $(O)
