#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The pages, README and the argp tables say the same. What the program has to say comes from
# --completion-data; what the pages say, from their source, fragments put in.

load lib/common

setup() {
	common_setup
	cd "$TESTS/.." || return
	export VERSION=${VERSION:-$(sed -n 's/^VERSION := //p' Makefile)}
	data=$("$PGSCAN" --completion-data)
	[[ -n $data ]]
}

# ---- what the program says -------------------------------------------------------------------

commands() { awk -F '\t' '$1 != "-" && $2 == "-" { print $1 }' <<<"$data"; }

# options COMMAND: "long short argument" of each, argument being none, always or optional.
options() {
	awk -F '\t' -v command="$1" '
	$1 == command && $2 != "-" {
		print "--" $2, $3 == "-" ? "-" : "-" $3, $4 == "-" ? "none" : $4 ~ /^\[/ ? "optional" : "always"
	}' <<<"$data" | sort
}

# metavar COMMAND --LONG
metavar() { awk -F '\t' -v c="$1" -v o="$2" '$1 == c && "--" $2 == o { print $4 }' <<<"$data"; }

columns() { "$PGSCAN" --completion-data="columns:$1" | cut -f 1 | sort; }

# ---- what a page says ------------------------------------------------------------------------

page() { scripts/scd "man/pgscan-$1.1.scd"; }

# section NAME: that section of the page on stdin, without its heading.
section() { awk -v name="# $1" '/^# / { on = $0 == name; next } on'; }

# terms: the heads of definitions on stdin: lines that begin in bold and have an indented line next.
terms() { awk '/^\t/ && head ~ /^[*]/ { print head } { head = $0 }'; }

# page_options COMMAND: as options().
page_options() {
	page "$1" | section OPTIONS | terms | sed 's/; /\n/g' | awk '
	{
		head = $0
		long = short = "-"
		if (match(head, /[*]--[a-z-]+/))
			long = substr(head, RSTART + 1, RLENGTH - 1)
		if (match(head, /[*]-[A-Za-z][*]/))
			short = substr(head, RSTART + 1, RLENGTH - 2)
		if (long == "-" || long == "--format" && !/FORMAT/)
			next
		print long, short, head ~ /\[=/ ? "optional" : head ~ /=/ ? "always" : "none"
	}' | sort
}

page_columns() { page "$1" | section COLUMNS | terms | grep -o '[*][a-z_]*[*]' | tr -d '*' | sort -u; }

# same WHAT ONE OTHER: fails with the difference.
same() {
	[[ $2 == "$3" ]] || fail "$1 differ (< the program, > the page):" "$(diff <(echo "$2") <(echo "$3"))"
}

# ---- pages -----------------------------------------------------------------------------------

@test "there are commands, each with a page that pgscan(1) and README list" {
	local command

	[[ -n $(commands) ]]
	for command in $(commands); do
		[[ -f man/pgscan-$command.1.scd ]] || fail "pgscan $command has no page"
		grep -qF "(man/pgscan-$command.1.scd)" README.md || fail "README does not list $command"
	done
	same commands "$(commands | sort)" "$(section COMMANDS <man/pgscan.1.scd | terms |
		sed -n 's/^[*]pgscan-\(.*\)[*](1)$/\1/p' | sort)"
}

@test "every page describes the options of its command, and no other" {
	local command

	for command in $(commands); do
		same "options of $command" "$(options "$command")" "$(page_options "$command")"
	done
	same "options of pgscan" "$(options -)" "$(scripts/scd man/pgscan.1.scd | section OPTIONS | terms |
		sed -E 's/^[*](-[a-z])[*], /\1 /; s/[*]//g' |
		awk '{ print NF == 2 ? $2 " " $1 " none" : $1 " - none" }' | sort)"
}

@test "every page names the values that an option takes" {
	local command option values

	for command in $(commands); do
		while read -r option _; do
			values=$(metavar "$command" "$option")
			[[ $values == *'|'* && $option != --format ]] || continue
			[[ $(page "$command" | tr -d '*') == *"$option=$values"* ]] ||
				fail "pgscan-$command(1) does not say $option=$values"
		done < <(options "$command")
	done
}

@test "every page names the formats of its command" {
	local command word

	for command in $(commands); do
		for word in $(metavar "$command" --format | tr '|' ' '); do
			[[ $(page "$command" | section OPTIONS) == *"*$word*"* ||
				$(page "$command" | section OPTIONS) == *"*--format=$word*"* ]] ||
				fail "pgscan-$command(1) does not name the format $word"
		done
	done
}

@test "every page describes the columns of its command, and no other" {
	local command

	for command in $(commands); do
		same "columns of $command" "$(columns "$command")" "$(page_columns "$command")"
	done
}

@test "every page has the statuses that there are, and examples" {
	local command statuses

	statuses=$(sed -n 's/^\tPGS_EXIT_[A-Z]* = \([0-9]*\),$/\1/p' cmd/msg.h)
	[[ $statuses == $'0\n1\n2\n3\n4\n5' ]]
	for command in $(commands); do
		same "statuses of $command" "$statuses" \
			"$(page "$command" | section 'EXIT STATUS' | terms | tr -d '*')"
		[[ -n $(page "$command" | section EXAMPLES) ]] || fail "pgscan-$command(1) has no example"
	done
}

@test "pgscan-check(1) describes the features that check tries" {
	run_pgscan check --json
	same features "$(jq -r '.rows[].name' "$out" | sort)" \
		"$(page check | section FEATURES | terms | grep -o '[*][a-z_0-9]*[*]' | tr -d '*' | sort)"
}

@test "pgscan-dump(1) names the states and the flags that there are" {
	local name

	# Each name of the page is one that --where knows, and each that src knows is in the page.
	for name in $(page dump | section STATES | terms | tr -d '*') \
		$(page dump | section FLAGS | grep -o '[*][a-z_0-9]*[*]' | tr -d '*' | grep -vx -e bit -e kpf_); do
		run_pgscan dump --where="$name" --range=0+1 $$
	done
	same states "$(sed -n '/state_names\[/,/};/p' src/page.c | grep -o '"[a-z_]*"' | tr -d '"' | sort)" \
		"$(page dump | section STATES | terms | tr -d '*' | sort)"
	same flags "$(grep -o '\[[0-9]*\] = "[a-z_0-9]*"' src/kpage.c | grep -o '"[a-z_0-9]*"' | tr -d '"' | sort)" \
		"$(page dump | section FLAGS | grep -o '[*][a-z_0-9]*[*]' | tr -d '*' | grep -vx bit | sort -u)"
}

@test "the pages are well formed" {
	local file faults

	[[ -d $BUILD/man ]] || skip "no pages were built: scdoc is missing"
	requires tool:mandoc
	for file in "$BUILD"/man/*; do
		# scdoc's own habits: an empty paragraph after a heading, a title in lower case.
		faults=$(mandoc -Tlint -W warning "$file" |
			grep -v -e 'skipping paragraph macro: PP' -e 'lower case character in document title') || true
		[[ -z $faults ]] || fail "$faults"
	done
}

# ---- the tables and the parsers --------------------------------------------------------------

# a_value METAVAR: something that the parser of that metavar accepts, or refuses by itself.
a_value() {
	case $1 in
	*'|'*) echo "${1%%|*}" ;;
	N | PID | SEC | SIZE) echo 1 ;;
	*) echo x ;;
	esac
}

@test "every option of a table is parsed" {
	local command long short argument value form

	for command in $(commands); do
		while read -r long short argument; do
			value=
			[[ $argument == none ]] || value=$(a_value "$(metavar "$command" "$long" | tr -d '[]')")
			for form in "$long${value:+=$value}" "$short$value"; do
				[[ $form != -"$value" ]] || continue
				# The last one stops it before it does anything.
				timeout 20 "$PGSCAN" "$command" "$form" --no-such >"$out" 2>"$err" || true
				! grep -v -e "'--no-such'" "$err" | grep -i 'PROGRAM ERROR\|[a-z]* option' ||
					fail "pgscan $command does not know $form"
			done
		done < <(options "$command")
	done
}

# glibc's argp writes the margin before the option where both fill its buffer of 200 bytes.
@test "--help of each command fits 79 columns" {
	local command

	for command in $(commands); do
		run_pgscan "$command" --help
		refute grep -E '^.{80}' "$out"
	done
}

@test "--help of each command lists its options and nothing else" {
	local command

	for command in $(commands); do
		run_pgscan "$command" --help
		same "options in the help of $command" "$(options "$command" | cut -d ' ' -f 1)" \
			"$(grep -oE '^ +(-[A-Za-z], )?--[a-z-]+' "$out" | grep -oE -e '--[a-z-]+' | sort)"
	done
}

@test "the version is the Makefile's, and the changelog has it or what is to come" {
	run_pgscan --version
	[[ $output == "pgscan $(sed -n 's/^VERSION := //p' Makefile)" ]]
	grep -qF -e "## [$VERSION]" -e '## [Unreleased]' CHANGELOG.md
}

# ---- what is shown as an example -------------------------------------------------------------

# example_lines: the pgscan commands of README's transcripts and of the pages' examples.
example_lines() {
	{
		# shellcheck disable=SC2016 # no expansion is meant
		sed -n -e '/^```console$/,/^```$/p' -e '/^```text$/,/^```$/p' README.md
		for command in $(commands); do
			page "$command" | section EXAMPLES
		done
	} | grep -oE '^[$#] (sudo )?pgscan [^|]*' | sed -E 's/^[$#] (sudo )?pgscan //'
}

@test "examples use commands and options that there are" {
	local words command word long name

	[[ $(example_lines | wc -l) -ge 5 ]]
	while IFS= read -r line; do
		read -ra words <<<"$line"
		command=${words[0]}
		commands | grep -qx -e "$command" || fail "no command '$command' in: pgscan $line"
		for word in "${words[@]:1}"; do
			name=${word%%=*}
			case $word in
			--) break ;;
			--*) options "$command" | grep -q -e "^$name " || fail "no option '$name' in: pgscan $line" ;;
			-[A-Za-z]*)
				options "$command" | grep -q -e " ${name:0:2} " ||
					fail "no option '${name:0:2}' in: pgscan $line" ;;
			esac
		done
	done < <(example_lines)
}

# What differs from run to run and from kernel to kernel: numbers, bytes, the answers of check, whether
# somebody has referred to the zero page.
mask() {
	sed -E 's/0x[0-9a-f]+(\+0x[0-9a-f]+)?/ADDR/g; s/[0-9]+/N/g; s/( [0-9a-fN]{1,2})+ /BYTES /g; s/[|].*[|]$//
		s/(present +N +)N|^(N +)N /\1\2N/; s/  +/ /g; s/ +$//; s/^ //
		s/^(pagemap|pfn_visible|pagemap_scan|map_files|kpageflags) .*/\1/; s/^(yes|no|not permitted) N/ANSWERS/
		s/soft_dirty":(true|false|null)/soft_dirty":V/; s/uptodate[a-z,_]*/FLAGS/; s/referenced,zero_page/zero_page/' | uniq
}

@test "README's transcripts are what the commands print" {
	requires root plain kfeat:pfn kfeat:pagemap_scan tool:jq
	scripts/readme >"$out"
	[[ $(grep -c '^# pgscan' "$out") -ge 6 ]]
	diff <(mask <README.md) <(mask <"$out") || fail "renew them with scripts/readme"
}
