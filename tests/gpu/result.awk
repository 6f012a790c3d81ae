# SPDX-License-Identifier: MIT
# Turns the suite's lines (part, section, name, value; see common.sh) into Markdown or JSON.
#	awk -f result.awk -v format=md|json [-v compare=SIMULATED.tsv] FILE.tsv
# Sections of measurements: median, lowest and highest of the rounds, and the ratio to a base: the
# median of the rounds' own ratios, since a round's values were measured next to each other.
BEGIN {
	FS = "\t"
	unit["overhead"] = "ms per step"; unit["calls"] = "ns per call"
	unit["copies"] = "GB/s"; unit["torch-times"] = "ms per step"
	while (compare != "" && (getline line < compare) > 0) {
		split(line, field, "\t")
		simulated[field[2], field[3]] = field[4]
		compared = 1
	}
}
$2 ~ / predicted$/ { section = $2; sub(/ predicted$/, "", section); predicted[section, $3] = $4; next }
{
	if (!($2 in seen)) { seen[$2] = 1; sections[++section_count] = $2 }
	key = $2 SUBSEP $3
	if (!(key in count)) names[$2] = names[$2] SUBSEP $3
	values[key, ++count[key]] = $4
}
function quote(text) {
	gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/[\001-\037]/, " ", text)
	return "\"" text "\""
}
function cell(text) {
	gsub(/\|/, "\\|", text)
	return text
}
function numeric(section) {
	return (section in unit) || (section ~ /^gain / && section !~ / ledger$/)
}
# Sorts numbers list[1..n] in place.
function sort_list(list, n,   i, j, v) {
	for (i = 2; i <= n; i++) {
		v = list[i]
		for (j = i - 1; j >= 1 && list[j] > v; j--) list[j + 1] = list[j]
		list[j + 1] = v
	}
}
function middle(list, n) {
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
# Sets low, mid, high; returns the number of rounds.
function summarise(key,   list, i, n) {
	n = 0
	for (i = 1; i <= count[key]; i++) if (values[key, i] != "") list[++n] = values[key, i] + 0
	if (!n) return 0
	sort_list(list, n)
	low = list[1]; high = list[n]; mid = middle(list, n)
	return n
}
# Sets ratio_low, ratio, ratio_high; false when there is no base.
function compare_with(key, base,   list, i, n, a, b) {
	if (key == base || !(base in count) || !summarise(base)) return 0
	if (count[key] == count[base]) {
		n = 0
		for (i = 1; i <= count[key]; i++)
			if (values[base, i] > 0 && values[key, i] != "") list[++n] = values[key, i] / values[base, i]
		if (!n) return 0
		sort_list(list, n)
		ratio_low = list[1]; ratio_high = list[n]; ratio = middle(list, n)
		return 1
	}
	b = mid
	if (!summarise(key) || b <= 0) return 0
	a = mid
	ratio_low = low / b; ratio_high = high / b; ratio = a / b
	return 1
}
function base_of(section, name,   base, threads, size) {
	base = name
	if (section ~ /^gain /) {
		threads = ""
		if (match(name, /\/[0-9]+$/)) threads = substr(name, RSTART)
		if (name ~ /^(tuned|rewritable)\+/) { sub(/\+.*/, "", base); return base threads }
		return "naive" threads
	}
	if (section == "copies") {
		if (!match(name, /-[0-9]+K/)) return ""
		size = substr(name, RSTART, RLENGTH)
		threads = ""
		if (match(name, /-[0-9]+-loaders/)) threads = substr(name, RSTART, RLENGTH)
		return (name ~ /^to-/ ? "to-pinned" : "pinned") size threads
	}
	sub(/\+.*/, "", base)
	return base
}
function print_measured(section, list, n,   i, key, rounds, base, line) {
	if (format == "md") {
		against = "the program alone"
		if (section ~ /^gain /) against = "naive (with a + behind tuned or rewritable: to the same without)"
		if (section == "copies") against = "a copy of the same size with pinned memory"
		printf "\n## %s\n\n%s; rounds interleaved. The ratio is to %s, with its range over the rounds.\n\n", section,
			(section in unit) ? unit[section] : "ms per step", against
		printf "| what | median | lowest | highest | rounds | ratio |%s\n| --- | --- | --- | --- | --- | --- |%s\n",
			section ~ /^gain / ? " gain us | predicted us | error |" : "", section ~ /^gain / ? " --- | --- | --- |" : ""
	}
	for (i = 1; i <= n; i++) {
		key = section SUBSEP list[i]
		base = section SUBSEP base_of(section, list[i])
		has_ratio = compare_with(key, base)
		base_mid = (base in count) && summarise(base) ? mid : 0
		rounds = summarise(key)
		gain = (base_mid - mid) * 1000
		foretold = rounds && section ~ /^gain / && (section, list[i]) in predicted
		if (foretold) error = has_ratio && gain != 0 ? sprintf("%+.0f %%", 100 * (predicted[section, list[i]] - gain) / (gain < 0 ? -gain : gain)) : ""
		if (format == "json") {
			printf "%s%s:", (i > 1 ? "," : ""), quote(list[i])
			if (!rounds) { printf "null"; continue }
			printf "{\"median\":%.7g,\"lowest\":%.7g,\"highest\":%.7g,\"rounds\":%d", mid, low, high, rounds
			if (has_ratio) printf ",\"ratio\":%.6g,\"ratio_lowest\":%.6g,\"ratio_highest\":%.6g", ratio, ratio_low, ratio_high
			if (has_ratio && section ~ /^gain /) printf ",\"gain_us\":%.5g", gain
			if (foretold) printf ",\"predicted_us\":%s,\"prediction_error\":%s", predicted[section, list[i]], quote(error)
			printf "}"
			continue
		}
		if (!rounds) { printf "| %s | not measured | | | 0 | |\n", cell(list[i]); continue }
		line = sprintf("| %s | %.5g | %.5g | %.5g | %d | %s |", cell(list[i]), mid, low, high, rounds,
			has_ratio ? sprintf("%.4f (%.4f to %.4f)", ratio, ratio_low, ratio_high) : "")
		if (section ~ /^gain /)
			line = line sprintf(" %s | %s | %s |", has_ratio ? sprintf("%.1f", gain) : "",
				foretold ? sprintf("%.1f", predicted[section, list[i]]) : "", foretold ? error : "")
		print line
	}
}
# How much of the gap between naive and rewritable a variant closes, in percent; false: no gap.
function closes(section, variant,   naive, best) {
	if (!summarise(section SUBSEP "naive")) return 0
	naive = mid
	if (!summarise(section SUBSEP "rewritable")) return 0
	best = mid
	if (naive <= best || !summarise(section SUBSEP variant)) return 0
	closed = 100 * (naive - mid) / (naive - best)
	return 1
}
function print_goal(name, value, reached) {
	if (format == "json") printf "%s%s:{\"value\":%s,\"reached\":%s}", goals++ ? "," : "", quote(name), quote(value), reached ? "true" : "false"
	else printf "| %s | %s | %s |\n", cell(name), cell(value), reached ? "yes" : "**no**"
}
# What is hoped for, and what came of it.
function print_goals(   s, n, i, list, section, base, pinned) {
	if (format == "json") printf ",\n\"goals\":{"
	else print "\n## goals\n\n| goal | value | reached |\n| --- | --- | --- |"
	for (s = 1; s <= section_count; s++) {
		section = sections[s]
		if (!numeric(section)) continue
		if (section ~ /^gain (lenet|wide) / && closes(section, "naive+safe"))
			print_goal(section ": naive under the library closes 95 % of the gap to rewritable", sprintf("%.1f %%", closed), closed >= 95)
		n = split(substr(names[section], 2), list, SUBSEP)
		for (i = 1; i <= n; i++) {
			base = list[i]
			if (section ~ /^gain / && sub(/\+safe/, "", base) && compare_with(section SUBSEP list[i], section SUBSEP base))
				print_goal(section " " list[i] ": at most 1 % slower than " base, sprintf("%.2f %%", 100 * (ratio - 1)), ratio <= 1.01)
			base = list[i]
			if (section == "overhead" && sub(/\+totals$/, "", base) && compare_with(section SUBSEP list[i], section SUBSEP base))
				print_goal(section " " list[i] ": at most 0.3 %", sprintf("%.2f %% (%.2f to %.2f)", 100 * (ratio - 1), 100 * (ratio_low - 1), 100 * (ratio_high - 1)), ratio <= 1.003)
			if (section == "copies" && list[i] ~ /^pageable-[0-9]+K-[0-9]+-loaders\+staging$/) {
				pinned = list[i]
				sub(/^pageable/, "pinned", pinned)
				sub(/\+staging$/, "", pinned)
				if (compare_with(section SUBSEP list[i], section SUBSEP pinned))
					print_goal(section " " list[i] ": 80 % of pinned", sprintf("%.0f %%", 100 * ratio), ratio >= 0.8)
			}
		}
	}
	if (format == "json") printf "}"
}
END {
	if (format == "json") printf "{\"schema\":\"tfshim-gpu/2\""
	else if (values["environment" SUBSEP "gpu", 1] ~ /^simulated/) printf "# Tried on the simulated device: no figure below is a measurement\n"
	else printf "# Found and measured on a GPU\n"
	for (s = 1; s <= section_count; s++) {
		section = sections[s]
		n = split(substr(names[section], 2), list, SUBSEP)
		if (format == "json") printf ",\n%s:{", quote(section)
		if (numeric(section)) print_measured(section, list, n)
		else {
			both = compared && (section == "facts" || section == "cases")
			if (format == "md") printf "\n## %s\n\n| what | value |%s\n| --- | --- |%s\n", section, both ? " simulated |" : "", both ? " --- |" : ""
			for (i = 1; i <= n; i++) {
				key = section SUBSEP list[i]
				value = values[key, count[key]]
				if (format == "json") printf "%s%s:%s", (i > 1 ? "," : ""), quote(list[i]), quote(value)
				else if (!both) printf "| %s | %s |\n", cell(list[i]), cell(value)
				else printf "| %s | %s | %s |\n", cell(list[i]), cell(value),
					((section, list[i]) in simulated) ? cell(simulated[section, list[i]]) : ""
			}
		}
		if (format == "json") printf "}"
	}
	print_goals()
	if (format == "json") printf "}\n"
}
