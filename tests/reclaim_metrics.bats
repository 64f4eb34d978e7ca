#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# reclaim-report --format=openmetrics: what Prometheus' own tools make of it.
# `scripts/deps metrics` installs them; CI downloads them.

# Each test is a shell of its own, with its teardown:
# shellcheck disable=SC2030,SC2031

load lib/common

setup() {
	common_setup
	servers=()
}

teardown() {
	local pid

	for pid in "${servers[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	common_teardown
}

# expose ARGS...: into $out
expose() {
	run_pgscan reclaim-report --format=openmetrics "$@"
}

# metric SERIES: its value
metric() {
	awk -v series="$1" 'index($0, series " ") == 1 { print $NF }' "$out"
}

@test "openmetrics: every family has its help and type once, before all of its series" {
	local kernel

	for kernel in 3.10 4.18 5.8 5.15 6.1 6.12 6.18 7.3; do
		expose --root="$FIXTURES/vmstat-$kernel"
		[[ $(tail -n 1 "$out") == "# EOF" ]]
		awk '
		/^# TYPE/ { family = $3; if (seen[family]++) bad = bad " twice: " family; next }
		/^#/ { next }
		{ name = $1; sub(/\{.*/, "", name); if (name != family) bad = bad " astray: " $1
		  if (series[$1 $2]++) bad = bad " double: " $1
		  n++ }
		END { if (bad || n < 20) { print bad, n; exit 1 } }' "$out"
		# Counters end in _total, and nothing else does.
		awk '/^# TYPE/ && ($4 == "counter") != ($3 ~ /_total$/) { exit 1 }' "$out"
	done
}

@test "openmetrics: the values are those of the JSON, in base units" {
	expose --root="$FIXTURES/vmstat-6.18"
	[[ $(metric pgscan_reclaim_swap_out_pages_total) == 9000 ]]
	[[ $(metric 'pgscan_reclaim_scanned_pages_total{actor="kswapd"}') == 1000 ]]
	[[ $(metric 'pgscan_reclaim_scanned_by_kind_pages_total{kind="anon"}') == 1100 ]]
	[[ $(metric 'pgscan_reclaim_refaulted_pages_total{kind="file"}') == 530 ]]
	[[ $(metric pgscan_psi_stalled_some_seconds_total) == 0.123456 ]]
	[[ $(metric pgscan_psi_full_avg10_ratio) == 0.011 ]]
	[[ $(metric 'pgscan_swap_used_pages{device="/dev/vda2"}') == 32768 ]]
	[[ $(metric pgscan_swap_zswap_ratio) == 3 ]]
	# A whole beside its parts would be counted twice by sum().
	[[ -z $(metric pgscan_reclaim_scanned_pages_total) && -z $(metric pgscan_swap_used_pages) ]]
	# A kernel that does not tell anon from file has the whole alone; what it lacks is not 0.
	expose --root="$FIXTURES/vmstat-5.8"
	[[ $(metric pgscan_reclaim_refaulted_pages_total) == 1240 ]]
	[[ $output != *zswap_writeback* && $output != *khugepaged* ]]
}

@test "openmetrics: labels are escaped" {
	local tree=$BATS_TEST_TMPDIR/tree

	cp -r "$FIXTURES/vmstat-6.18" "$tree"
	printf '%s\n' 'Filename Type Size Used Priority' '/a"b\134c\012d file 1024 4 -2' >"$tree/proc/swaps"
	expose --root="$tree"
	grep -qF 'pgscan_swap_used_pages{device="/a\"b\\\\c\\x0ad"} 1' "$out"
}

@test "openmetrics: what does not go with it" {
	run_pgscan 2 reclaim-report -f openmetrics -i 1
	run_pgscan 2 reclaim-report -f openmetrics -- true
	run_pgscan 2 reclaim-report -f openmetrics -o name
	run_pgscan 2 dump -f openmetrics $$
}

@test "openmetrics: promtool has nothing to say" {
	requires tool:promtool
	local kernel

	for kernel in 3.10 4.18 5.8 5.15 6.1 6.12 6.18 7.3; do
		expose --root="$FIXTURES/vmstat-$kernel"
		promtool check metrics <"$out"
	done
	expose --root="$FIXTURES/memcg-v2" -g / --recursive
	promtool check metrics <"$out"
	expose
	promtool check metrics <"$out"
}

@test "openmetrics: each sample takes the place of the one before" {
	local file=$BATS_TEST_TMPDIR/pgscan.prom tree=$BATS_TEST_TMPDIR/tree pid i

	cp -r "$FIXTURES/vmstat-6.18" "$tree"
	"$PGSCAN" reclaim-report -f openmetrics -i 0.05 --root="$tree" --output-file="$file" 3>&- &
	pid=$!
	servers+=("$pid")
	# Whoever reads it, whenever, reads a whole one.
	for ((i = 0; i < 100; i++)); do
		[[ ! -e $file || $(tail -n 1 "$file") == "# EOF" ]]
	done
	sed 's/^pswpout .*/pswpout 9100/' "$FIXTURES/vmstat-6.18/proc/vmstat" >"$tree/proc/new"
	mv "$tree/proc/new" "$tree/proc/vmstat"
	for ((i = 0; i < 200; i++)); do
		! grep -qs '^pgscan_reclaim_swap_out_pages_total 9100$' "$file" || break
		sleep 0.05
	done
	((i < 200)) || fail "$(head -n 5 "$file")"
	[[ $(stat -c %a "$file") == "$(printf %o $((0666 & ~0$(umask))))" ]]
}

# start_server NAME ARGS...: in the background, until the end of the test
start_server() {
	"$@" >"$BATS_TEST_TMPDIR/$1.log" 2>&1 3>&- &
	servers+=($!)
}

# query EXPRESSION: what Prometheus answers to it, once it has an answer
query() {
	local i answer

	for ((i = 0; i < 60; i++)); do
		answer=$(promtool query instant "http://127.0.0.1:$port" "$1" 2>/dev/null) || answer=
		if [[ -n $answer ]]; then
			echo "$answer"
			return
		fi
		sleep 1
	done
	fail "no answer to $1" "$(tail -n 5 "$BATS_TEST_TMPDIR"/*.log)"
}

@test "openmetrics: scraped by Prometheus through node_exporter's textfile collector" {
	requires plain tool:prometheus tool:promtool tool:prometheus-node-exporter
	local dir=$BATS_TEST_TMPDIR/textfile

	port=$((20000 + $$ % 20000))
	mkdir "$dir"
	run_pgscan reclaim-report -f openmetrics --output-file="$dir/pgscan.prom" \
		--root="$FIXTURES/vmstat-6.18"
	start_server prometheus-node-exporter --web.listen-address="127.0.0.1:$((port + 1))" \
		--collector.disable-defaults --collector.textfile --collector.textfile.directory="$dir"
	cat >"$BATS_TEST_TMPDIR/prometheus.yml" <<-END
		global: {scrape_interval: 1s}
		scrape_configs:
		- job_name: node
		  static_configs: [{targets: ["127.0.0.1:$((port + 1))"]}]
	END
	start_server prometheus --config.file="$BATS_TEST_TMPDIR/prometheus.yml" \
		--storage.tsdb.path="$BATS_TEST_TMPDIR/tsdb" --web.listen-address="127.0.0.1:$port"
	[[ $(query pgscan_reclaim_swap_out_pages_total) == *"=> 9000 @"* ]]
	[[ $(query 'sum(pgscan_reclaim_scanned_pages_total{actor!="cgroup"})') == *"=> 1600 @"* ]]
	[[ $(query 'pgscan_swap_used_pages{device="/dev/zram0"}') == *"=> 32767 @"* ]]
	# The collector took all of it, and found no fault.
	[[ $(query node_textfile_scrape_error) == *"=> 0 @"* ]]
	[[ $(query 'count({__name__=~"pgscan_.*"})') == *"=> $(grep -vc '^#' "$dir/pgscan.prom") @"* ]]
}
