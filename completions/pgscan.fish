# SPDX-License-Identifier: GPL-2.0-only
# fish completion for pgscan(1). What there is to complete, the program itself says:
# `pgscan --completion-data` prints a line "command long short metavar help" for each option.

# The fields of $data's lines for command $argv[1], tab-separated.
function __pgscan_of
	string match -r -- "^$argv[1]\t.*" $data
end

# The metavar of option $argv[2] of command $argv[1]; "-" is the command itself.
function __pgscan_metavar
	for line in (__pgscan_of $argv[1])
		set -l field (string split \t -- $line)
		if contains -- $argv[2] --$field[2] -$field[3]
			echo $field[4]
			return 0
		end
	end
	return 1
end

function __pgscan_commands
	for line in $data
		set -l field (string split \t -- $line)
		if test $field[1] != - -a $field[2] = -
			printf '%s\t%s\n' $field[1] $field[5]
		end
	end
end

function __pgscan_options
	for line in (__pgscan_of $argv[1])
		set -l field (string split \t -- $line)
		test $field[2] = -; and continue
		switch $field[4]
			case - '[*'
				printf '%s\t%s\n' --$field[2] $field[5]
			case '*'
				printf '%s\t%s\n' --$field[2]= $field[5]
		end
		test $field[3] = -; or printf '%s\t%s\n' -$field[3] $field[5]
	end
end

function __pgscan_pids
	for dir in /proc/*
		string match -qr '^/proc/[0-9]+$' -- $dir; or continue
		set -l comm (cat $dir/comm 2>/dev/null | string replace -ar '[^[:print:]]' '?')
		printf '%s\t%s\n' (string replace /proc/ '' -- $dir) "$comm"
	end
end

# Cgroups below the memory hierarchy, of either version.
function __pgscan_cgroups
	set -l root /sys/fs/cgroup
	test -d $root/memory; and set root $root/memory
	for dir in $root/$argv[1]*/
		string replace -- $root/ '' $dir | string trim -r -c /
	end
end

# A comma-separated list: $argv[1] what is typed of it, the rest its words, with descriptions.
function __pgscan_list
	set -l plus (string match -r '^\+' -- $argv[1])
	set -l head (string match -r '^.*,' -- (string replace -r '^\+' '' -- $argv[1]))
	for word in $argv[2..]
		contains -- (string split -f 1 \t -- $word) (string split , -- $head); or echo "$plus$head$word"
	end
end

function __pgscan_columns
	$bin --completion-data=columns:$argv[1] 2>/dev/null | string replace -r '\t.*\t' '\t'
end

# A value: $argv[1] the command, [2] the metavar, [3] what is typed of it.
function __pgscan_values
	switch $argv[2]
		case PID
			__pgscan_pids
		case CGROUP
			__pgscan_cgroups $argv[3]
		case FILE
			__fish_complete_path $argv[3]
		case DIR
			__fish_complete_directories $argv[3]
		case COLUMNS
			set -l columns (__pgscan_columns $argv[1])
			string match -qr '[+,]' -- $argv[3]; or set -a columns help\t'list the columns'
			__pgscan_list $argv[3] $columns
		case KEY
			__pgscan_columns $argv[1]
		case '*|*'
			string split '|' -- $argv[2]
		case '*'
			string match -qr '^[a-z_]+(,[a-z_]+)+$' -- $argv[2]
			and __pgscan_list $argv[3] (string split , -- $argv[2])
	end
end

function __pgscan_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -g bin $words[1]
	set -g data ($bin --completion-data 2>/dev/null); or return
	set -l command (string match -v -- '-*' $words[2..])[1]

	if test -z "$command"
		switch $current
			case '-*'
				__pgscan_options -
			case '*'
				__pgscan_commands
		end
		return
	end
	if contains -- -- $words
		__fish_complete_subcommand --fcs-skip=(contains -i -- -- $words)
		return
	end

	set -l option (string match -r '^--[^=]+(?==)' -- $current)
	if test -n "$option"
		set -l metavar (__pgscan_metavar $command $option | string trim -c '[]')
		set -l typed (string replace -r '^--[^=]+=' '' -- $current)
		string replace -r '^' -- $option= (__pgscan_values $command $metavar $typed)
		return
	end
	set -l metavar (__pgscan_metavar $command $words[-1])
	if test (count $words) -gt 2; and string match -q -- '-?*' $words[-1]; and not string match -q -- '-' $metavar
		string match -q '[*' -- $metavar; or begin
			__pgscan_values $command $metavar $current
			return
		end
	end
	if string match -q -- '-*' $current
		__pgscan_options $command
	else if string match -q '*PID*' -- (__pgscan_metavar $command --)
		__pgscan_pids
	end
end

complete -c pgscan -f -a '(__pgscan_complete)'
