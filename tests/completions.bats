#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Each shell, asked without a terminal, offers what the program says that there is.

load lib/common

setup() {
	common_setup
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$PGSCAN" "$BATS_TEST_TMPDIR/bin/pgscan"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	data=$(pgscan --completion-data)
	[[ -n $data ]]
}

# offers SHELL LINE: the candidates, sorted. zsh and fish offer "=" after an option or not, fish
# repeats what stands before it, zsh only the member of a list that is being typed: made equal here.
offers() {
	"$TESTS/lib/complete/$1" "$2" | sed -E 's/^(--[a-z-]+=)(.)/\2/; s/=$//; s/ \(.*\)$//' | sort -u
}

# each_offers LINE EXPECTED: in all three shells.
each_offers() {
	local shell got

	for shell in bash zsh fish; do
		command -v "$shell" >/dev/null || continue
		got=$(offers "$shell" "$1")
		[[ $got == "$2" ]] || fail "$shell on '$1' (< expected, > offered):" "$(diff <(echo "$2") <(echo "$got"))"
	done
}

# each_offers_among LINE WORD: it is one of the candidates.
each_offers_among() {
	local shell

	for shell in bash zsh fish; do
		command -v "$shell" >/dev/null || continue
		offers "$shell" "$1" | grep -qxF -e "$2" ||
			fail "$shell on '$1' does not offer '$2' but:" "$(offers "$shell" "$1")"
	done
}

@test "commands" {
	requires tool:zsh tool:fish
	each_offers 'pgscan ' "$(awk -F '\t' '$1 != "-" && $2 == "-" { print $1 }' <<<"$data" | sort)"
}

@test "options of each command" {
	local command

	while read -r command; do
		each_offers "pgscan $command --" \
			"$(awk -F '\t' -v c="$command" '$1 == c && $2 != "-" { print "--" $2 }' <<<"$data" | sort)"
	done < <(awk -F '\t' '$1 != "-" && $2 == "-" { print $1 }' <<<"$data")
}

@test "options before the command" {
	each_offers 'pgscan --' "$(awk -F '\t' '$1 == "-" { print "--" $2 }' <<<"$data" | sort)"
}

@test "values of an option" {
	local values

	values=$(awk -F '\t' '$1 == "dump" && $2 == "by" { print $4 }' <<<"$data" | tr '|' '\n' | sort)
	[[ $values == *run* ]]
	each_offers 'pgscan dump --by=' "$values"
	each_offers 'pgscan dump --by ' "$values"
	each_offers 'pgscan dump --by=v' vma
	each_offers 'pgscan dump -f js' $'json\njsonl'
}

@test "columns, alone and in a list" {
	local line want shell

	want=$(pgscan --completion-data=columns:dump | cut -f 1 | grep '^st' | sort)
	[[ $want == *start* ]]
	each_offers 'pgscan dump --columns=st' "$want"
	each_offers 'pgscan dump -o st' "$want"
	each_offers_among 'pgscan check -o ' help
	for shell in bash fish; do
		for line in 'pgscan dump -o pid,st' 'pgscan dump -o +pid,st'; do
			[[ $(offers "$shell" "$line") == "$(sed "s/^/${line##* }/; s/stst/st/" <<<"$want")" ]]
		done
	done
	[[ $(offers zsh 'pgscan dump -o pid,st') == "$want" ]]
}

@test "a column that the list has already is not offered again" {
	local shell

	for shell in bash zsh fish; do
		! offers "$shell" 'pgscan dump -o start,st' | grep -x 'start\|start,start' || fail "$shell"
	done
}

@test "processes, for commands that take them" {
	each_offers_among 'pgscan dump ' "$$"
	[[ -z $(offers bash 'pgscan check ')$(offers fish 'pgscan check ') ]]
	"$TESTS/lib/complete/bash" 'pgscan dump ' | grep -qxF "$$ ($(cat /proc/$$/comm))"
	# A single candidate is what is inserted: no name in it.
	[[ $("$TESTS/lib/complete/bash" "pgscan dump $$") == "$$" ]]
}

@test "a process of a strange name" {
	local program=$BATS_TEST_TMPDIR/$'a:b\t$(c)[d'

	cp "$(command -v sleep)" "$program"
	"$program" 60 3>&- &
	TARGETS+=($!)
	each_offers_among 'pgscan dump ' "$!"
}

@test "files and directories" {
	mkdir "$BATS_TEST_TMPDIR/some dir" "$BATS_TEST_TMPDIR/dir"
	touch "$BATS_TEST_TMPDIR/file"
	cd "$BATS_TEST_TMPDIR" || return
	each_offers 'pgscan dump --file=fi' file
	[[ $(offers bash 'pgscan dump --root=di') == dir ]]
	[[ $(offers fish 'pgscan dump --root=di') == dir/ ]]
	[[ $(offers zsh 'pgscan dump --root=di') == dir ]]
}

@test "a command after --" {
	[[ $data == *$'\nwp\t'* ]]
	each_offers_among 'pgscan wp -- setpri' setpriv
	each_offers_among 'pgscan wp -i 1 -- setpri' setpriv
}

@test "a program that is not there is quiet" {
	local shell

	rm "$BATS_TEST_TMPDIR/bin/pgscan"
	printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/pgscan"
	chmod +x "$BATS_TEST_TMPDIR/bin/pgscan"
	for shell in bash fish; do
		[[ -z $("$TESTS/lib/complete/$shell" 'pgscan ' 2>&1) ]]
	done
}
