# SPDX-License-Identifier: GPL-2.0-only
# bash completion for pgscan(1). What there is to complete, the program itself says:
# `pgscan --completion-data` prints a line "command long short metavar help" for each option.
# shellcheck shell=bash

# Print the metavar of option $2 ("--long" or "-s") of command $1; fail when there is no such option.
# "--" stands for the command itself, and its metavar for its arguments.
_pgscan_metavar() {
	local command long short metavar _

	while IFS=$'\t' read -r command long short metavar _; do
		if [[ $command == "$1" && ($2 == "--$long" || $2 == "-$short") ]]; then
			printf '%s\n' "$metavar"
			return 0
		fi
	done <<<"$data"
	return 1
}

# Candidates: the options of command $1; one that takes a value ends with "=".
_pgscan_options() {
	local command long metavar _

	while IFS=$'\t' read -r command long _ metavar _; do
		[[ $command == "$1" && $long != - ]] || continue
		case $metavar in
		- | \[*) printf '%s\n' "--$long" ;;
		*) printf '%s\n' "--$long=" ;;
		esac
	done <<<"$data"
}

_pgscan_commands() {
	awk -F '\t' '$1 != "-" && $2 == "-" { print $1 }' <<<"$data"
}

# Processes as "PID (comm)"; the reply is cut back to the PID when it is to be inserted.
_pgscan_pids() {
	local dir comm

	for dir in /proc/[0-9]*; do
		comm=
		{ read -r comm <"$dir/comm"; } 2>/dev/null
		printf '%s\n' "${dir#/proc/} (${comm//[^[:print:]]/?})"
	done
}

# Cgroups below the memory hierarchy, of either version.
_pgscan_cgroups() {
	local root=/sys/fs/cgroup dir

	[[ -d $root/memory ]] && root=$root/memory
	for dir in "$root/$1"*/; do
		[[ -d $dir ]] || continue
		compgen -G "$dir*/" >/dev/null || dir=${dir%/}
		printf '%s\n' "${dir#"$root"/}"
	done
}

# A comma-separated list, the last member of which is being typed: $1 the list, $2... the words.
_pgscan_list() {
	local typed=$1 head='' plus='' word

	[[ $typed == +* ]] && plus=+ typed=${typed#+}
	[[ $typed == *,* ]] && head=${typed%,*},
	shift
	for word; do
		[[ ",$head" == *",$word,"* ]] || printf '%s\n' "$plus$head$word"
	done
}

_pgscan_columns() {
	"$bin" --completion-data="columns:$1" 2>/dev/null | cut -f 1
}

# Candidates for a value: $1 the command, $2 the metavar, $3 what is typed of it.
_pgscan_values() {
	local words

	case $2 in
	PID) _pgscan_pids ;;
	CGROUP) _pgscan_cgroups "$3" ;;
	FILE) compgen -f -- "$3" ;;
	DIR) compgen -d -- "$3" ;;
	COLUMNS)
		mapfile -t words < <(_pgscan_columns "$1")
		[[ $3 == *[+,]* ]] || words+=(help)
		_pgscan_list "$3" "${words[@]}" ;;
	KEY) _pgscan_columns "$1" ;;
	[a-z]*,[a-z]*)
		IFS=, read -ra words <<<"$2"
		_pgscan_list "$3" "${words[@]}" ;;
	*'|'*) tr '|' '\n' <<<"$2" ;;
	esac
}

# Sets COMPREPLY to those of the lines on stdin that begin with $1.
_pgscan_reply() {
	local line typed=$1

	COMPREPLY=()
	while IFS= read -r line; do
		[[ $line == "$typed"* ]] && COMPREPLY+=("$line")
	done
	# "PID (comm)" is for the eye only: one candidate, or menu completion, inserts the bare PID.
	if [[ ${#COMPREPLY[@]} -eq 1 || ${COMP_TYPE-} == 37 ]]; then
		COMPREPLY=("${COMPREPLY[@]%% (*)}")
	fi
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace 2>/dev/null
	return 0
}

_pgscan() {
	local bin=$1 data command='' i metavar
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} value=

	data=$("$bin" --completion-data 2>/dev/null) || return 0
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- && -n $command ]]; then
			mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
			return 0
		fi
		[[ -n $command || ${COMP_WORDS[i]} == -* ]] || command=${COMP_WORDS[i]}
	done

	# readline breaks words at "=": "--format=js" arrives as three of them.
	if [[ $cur == = ]]; then
		cur='' value=$prev
	elif [[ $prev == = ]]; then
		value=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ -n $command && $prev == -?* ]]; then
		metavar=$(_pgscan_metavar "$command" "$prev") && [[ $metavar != - && $metavar != \[* ]] &&
			value=$prev
	fi

	if [[ -n $value ]]; then
		metavar=$(_pgscan_metavar "$command" "$value") || return 0
		metavar=${metavar#\[} metavar=${metavar%\]}
		[[ $metavar == FILE || $metavar == DIR ]] && compopt -o filenames 2>/dev/null
		_pgscan_reply "$cur" < <(_pgscan_values "$command" "$metavar" "$cur")
	elif [[ $cur == -* ]]; then
		_pgscan_reply "$cur" < <(_pgscan_options "${command:--}")
	elif [[ -z $command ]]; then
		_pgscan_reply "$cur" < <(_pgscan_commands)
	elif [[ $(_pgscan_metavar "$command" --) == *PID* ]]; then
		_pgscan_reply "$cur" < <(_pgscan_pids)
	fi
}

complete -F _pgscan pgscan
