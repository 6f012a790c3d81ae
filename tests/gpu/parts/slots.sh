# SPDX-License-Identifier: MIT
# Which functions of the driver's export tables runtimes and libraries call, and how often; a
# function is named by its table and the number of its word there. What refuses a copy of a table
# is asked again with one table copied at a time, and otherwise left alone (slots.c).
. "$GPU_HERE/common.sh"

# run_slots ONLY PROGRAM ARGUMENT...: leaves its log in slots.is; ONLY may be "all"
run_slots() {
	only=$1
	shift
	rm -f slots.is
	[ "$only" != all ] || only=
	limited 30 env ${only:+"SLOTS_ONLY=$only"} SLOTS_OUT="$PWD/slots.is" LD_AUDIT="$suite/libslots.so" \
		TFSHIM_DISABLE=1 "$@" >slots.out 2>&1
	status=$?
	[ -f slots.is ] || : >slots.is
}

# keep NAME: the log, as results
keep() {
	while read -r word requester id rest; do
		# shellcheck disable=SC2086 # the rest is words
		set -- "$1" $rest
		case $word in
		table) put export-tables "$1: $requester $id" "asked for $2 times, $3 bytes, $4 functions, $5" ;;
		slot) put export-slots "$1: $requester $id word $2" "$3 calls" ;;
		lost) put export-tables "$1: lost" "$requester requests, too many" ;;
		esac
	done <slots.is
}

# one_by_one NAME PROGRAM ARGUMENT...
one_by_one() {
	name=$1
	shift
	run_slots none "$@"
	keep "$name"
	for id in $(awk '$1 == "table" && $5 > 0 { print $3 }' slots.is | sort -u); do
		if [ "$(left)" -lt 5 ]; then
			put export-tables "$name: $id alone" "left out: no time"
			continue
		fi
		run_slots "$id" "$@"
		if [ "$status" = 0 ]; then
			grep " $id " slots.is >slots.one
			mv slots.one slots.is
			keep "$name"
		else
			put export-tables "$name: $id alone" "its copy is refused: status $status: $(last_words slots.out 1)"
		fi
	done
}

# log_of NAME PROGRAM ARGUMENT...
log_of() {
	name=$1
	shift
	[ -x "$1" ] || return 0
	missing=$(lacks "$1")
	[ -z "$missing" ] || { put export-tables "$name" "skipped: this machine lacks $missing"; return 0; }
	[ "$(left)" -gt 5 ] || { put export-tables "$name" "left out: no time"; return 0; }
	put_command "export-tables $name" LD_AUDIT=libslots.so "$@"
	run_slots all "$@"
	if [ "$status" = 0 ]; then
		keep "$name"
		[ -s slots.is ] || put export-tables "$name" "none was asked for"
		return 0
	fi
	words=$(last_words slots.out 1) refused=$status
	echo "== $name with all its tables copied: status $status"
	tail -n 20 slots.out
	run_slots none "$@"
	if [ "$status" != 0 ]; then
		put export-tables "$name" "FAILED: status $status, with no table copied: $(last_words slots.out 1)"
		return 0
	fi
	put export-tables "$name" "copies of all tables are refused: status $refused: $words"
	one_by_one "$name" "$@"
}

if [ ! -f "$suite/libslots.so" ]; then
	put export-tables "all" "skipped: for this processor there is no such log"
	exit 0
fi
if [ -n "$GPU_SIMULATED" ]; then
	# The simulated driver has no such tables; the test's has, and its program refuses copies too.
	log_of client "$suite/slots_client" "$suite/libslots_driver.so" 10
	log_of picky "$suite/slots_client" "$suite/libslots_driver.so" 10 picky
	exit 0
fi
log_of calls "$suite/facts_launch"
log_of nccl "$suite/facts_nccl"
log_of trainer "$trainers/lenet_naive" --data "$digits" --steps 20 --quiet
log_of trainer-static "$suite/lenet_naive_static" --data "$digits" --steps 20 --quiet
log_of kernels-static "$suite/mlp_static" --data "$digits" --steps 20 --quiet
log_of cupti "$suite/facts_activity"
exit 0
