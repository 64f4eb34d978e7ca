# SPDX-License-Identifier: GPL-2.0-only
# pgscan: the only makefile of user space; Kbuild lives under kmod/ alone.

VERSION := 0.1.0

PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
O       ?= build
PKG_CONFIG ?= pkg-config

CFLAGS   ?= -O2 -g
WARN     := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes $(if $(CI),-Werror)
PKGS     := libcap jansson smartcols
cppflags := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DPGSCAN_VERSION='"$(VERSION)"' -Isrc -Ikmod \
            $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS)
cflags   := -std=gnu11 $(WARN) $(CFLAGS)
libs     := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null || echo -lcap -ljansson -lsmartcols)

src_objs := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard src/*.c)))
cmd_objs := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard cmd/*.c)))
targets  := $(patsubst tests/targets/%.c,$(O)/targets/%,$(sort $(wildcard tests/targets/*.c)))
units    := $(patsubst tests/unit/%.c,$(O)/unit/%,$(sort $(wildcard tests/unit/test_*.c)))

.DELETE_ON_ERROR:
.PHONY: all clean

all: $(O)/pgscan $(targets)

$(O)/pgscan: $(cmd_objs) $(O)/libpgscan.a
	$(CC) $(cflags) $(LDFLAGS) -o $@ $^ $(libs)

$(O)/libpgscan.a: $(src_objs)
	rm -f $@
	$(AR) rcs $@ $^

$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(cppflags) $(cflags) -MMD -MP -c -o $@ $<

# Test targets: small C processes that make a known state of memory.
$(O)/targets/%: tests/targets/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(cppflags) $(cflags) -MMD -MP -pthread -o $@ $<

# Unit tests: cmocka on libpgscan.a and, where they test the output, on cmd's objects but main's.
$(O)/unit/%: tests/unit/%.c $(filter-out $(O)/cmd/main.o,$(cmd_objs)) $(O)/libpgscan.a
	@mkdir -p $(@D)
	$(CC) $(cppflags) -Icmd $(cflags) -MMD -MP -o $@ $^ $(libs) -lcmocka

-include $(wildcard $(O)/*/*.d)

clean:
	rm -rf $(O)
