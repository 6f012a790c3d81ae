# SPDX-License-Identifier: MIT
# Turns the suite's lines (section, name, value) into Markdown or JSON. Values of one name in the
# section "times" are repeats: median, lowest, highest, and the ratio to the plain program.
BEGIN { FS = "\t" }
{
	if (!($1 in seen)) { seen[$1] = 1; sections[++section_count] = $1 }
	key = $1 SUBSEP $2
	if (!(key in count)) { names[$1] = names[$1] SUBSEP $2; plain_order[key] = 1 }
	values[key, ++count[key]] = $3
}
function quote(text) {
	gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/[\001-\037]/, " ", text)
	return "\"" text "\""
}
function sort_values(key, sorted,   i, j, n, v) {
	n = 0
	for (i = 1; i <= count[key]; i++) {
		if (values[key, i] == "") continue
		v = values[key, i] + 0
		for (j = n; j >= 1 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
		sorted[j + 1] = v; n++
	}
	return n
}
function median(key,   sorted, n) {
	n = sort_values(key, sorted)
	return n == 0 ? "" : n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}
END {
	if (format == "json") printf "{\"schema\":\"tfshim-gpu/1\""
	else printf "# Measured on a GPU\n"
	for (s = 1; s <= section_count; s++) {
		section = sections[s]
		n = split(substr(names[section], 2), list, SUBSEP)
		if (format == "json") printf ",\n%s:{", quote(section)
		else if (section == "times")
			printf "\n## times\n\nStep time in ms.\n\n| program | median | lowest | highest | rounds | ratio to plain |\n| --- | --- | --- | --- | --- | --- |\n"
		else printf "\n## %s\n\n| what | value |\n| --- | --- |\n", section
		for (i = 1; i <= n; i++) {
			key = section SUBSEP list[i]
			if (format == "json") printf "%s%s:", (i > 1 ? "," : ""), quote(list[i])
			if (section != "times") {
				if (format == "json") printf "%s", quote(values[key, count[key]])
				else printf "| %s | %s |\n", list[i], values[key, count[key]]
				continue
			}
			delete sorted
			m = sort_values(key, sorted)
			base = list[i]; sub(/\+.*/, "", base)
			plain = median(section SUBSEP base)
			mid = median(key)
			if (format == "json")
				printf "{\"median\":%s,\"lowest\":%s,\"highest\":%s,\"rounds\":%d}", (m ? mid : "null"),
					(m ? sorted[1] : "null"), (m ? sorted[m] : "null"), m
			else if (m)
				printf "| %s | %.4g | %.4g | %.4g | %d | %s |\n", list[i], mid, sorted[1], sorted[m], m,
					(plain > 0 ? sprintf("%.4f", mid / plain) : "")
			else printf "| %s | not measured | | | 0 | |\n", list[i]
		}
		if (format == "json") printf "}"
	}
	if (format == "json") printf "}\n"
}
