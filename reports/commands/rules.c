/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "reports/formats/colour.h"
#include "reports/model/words.h"
#include "reports/support/must.h"
#include "reports/support/options.h"
#include "rules/catalogue/catalogue.h"
#include "rules/judge/judge.h"
#include "rules/judge/needs.h"
#include "rules/judge/visibility.h"

extern const struct tfs_command tfs_command_rules;

static int apply(void *state, char key, const char *value)
{
	(void)key;
	if (!tfs_colour_parse(value, state))
		return tfs_options_misuse(
			&tfs_command_rules, "--color %s: choose auto, always or never", value);
	return 0;
}

static void print_paragraph(const char *text)
{
	size_t column = 0;
	while (*text) {
		size_t length = strcspn(text, " ");
		if (column && column + 1 + length > 78) {
			putchar('\n');
			column = 0;
		} else if (column) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)length, text);
		column += length;
		text += length;
		text += *text == ' ';
	}
	putchar('\n');
}

/* What each bit is in words. */
static const char *list_bits(struct tfs_arena *arena, uint32_t bits, const char *(*words)(uint32_t),
	const char *separator)
{
	const char *list = "";

	for (uint32_t bit = 1; bit && bit <= bits; bit <<= 1)
		if (bits & bit)
			list = tfs_arena_print(
				arena, "%s%s%s", list, *list ? separator : "", words(bit));
	return list;
}

static void print_limits(const struct tfs_rule *rule, const struct tfs_paint *paint)
{
	struct tfs_arena arena = {0};
	const char *absent = list_bits(&arena, rule->needs, tfs_need_absent, "; ");

	if (rule->about)
		absent = tfs_arena_print(&arena,
			"%s%sthe hooks did not see some of these calls: %s", absent,
			*absent ? "; " : "", list_bits(&arena, rule->about, tfs_about_words, ", "));
	if (*absent) {
		printf("\n%sNot measurable where:%s\n", paint->bold, paint->reset);
		print_paragraph(absent);
	}
	if (rule->library)
		printf("\n%sNot applicable where:%s\nthe program does not call %s\n", paint->bold,
			paint->reset, tfs_library_title(rule->library));
	printf("\n%sTo ignore this rule in the gate:%s\ntfshim check --ignore %s PATH\n",
		paint->bold, paint->reset, rule->id);
	tfs_must_finish(&arena);
}

static void explain(const struct tfs_rule *rule, const struct tfs_paint *paint)
{
	printf("%s%s %s%s: %s\n", paint->bold, rule->id, rule->slug, paint->reset, rule->title);
	printf("level: %s%s%s%s   rewrite: %s%s%s%s\n\n", tfs_paint_level(paint, rule->level),
		tfs_words_level(rule->level), paint->reset,
		rule->any_cost ? ", regardless of its cost" : "",
		rule->rewrite ? rule->rewrite : "none", rule->rewrite_note ? " (" : "",
		rule->rewrite_note ? rule->rewrite_note : "", rule->rewrite_note ? ")" : "");
	print_paragraph(rule->why);
	printf("\n%sWhat to do:%s\n", paint->bold, paint->reset);
	print_paragraph(rule->advice);
	print_limits(rule, paint);
}

static void list(const struct tfs_paint *paint)
{
	const struct tfs_rule *rule;
	for (size_t i = 0; (rule = tfs_rule_at(i)); i++)
		printf("%s%s%s  %s%-5s%s  %-24s %-15s %s\n", paint->bold, rule->id, paint->reset,
			tfs_paint_level(paint, rule->level), tfs_words_level(rule->level),
			paint->reset, rule->slug, rule->rewrite ? rule->rewrite : "-", rule->title);
	struct tfs_arena arena = {0};
	size_t count;
	const char *names = tfs_words_unwritten(&arena, &count);

	printf("\n%snot looked for%s (%s)\n", paint->bold, paint->reset,
		tfs_words_number(&arena, (double)count, "rule", "rules"));
	print_paragraph(names);
	tfs_must_finish(&arena);
}

/* Whether a name is that of a rule which is not looked for. */
static bool tell_unwritten(const char *name, const struct tfs_paint *paint)
{
	const struct tfs_catalogue_row *row;

	for (size_t i = 0; (row = tfs_catalogue_unwritten(i)); i++) {
		if (strcasecmp(row->id, name) != 0 && strcasecmp(row->slug, name) != 0)
			continue;
		printf("%s%s %s%s: not looked for\n", paint->bold, row->id, row->slug,
			paint->reset);
		return true;
	}
	return false;
}

static int run(int argc, char **argv)
{
	enum tfs_colour colour = TFS_COLOUR_AUTO;
	int first;
	int status = tfs_options_parse(&tfs_command_rules, argc, argv, 0, apply, &colour, &first);
	if (status)
		return status < 0 ? 0 : status;
	const struct tfs_paint *paint = tfs_colour_choose(colour, stdout);
	if (!argv[first])
		list(paint);
	for (int i = first; argv[i]; i++) {
		const struct tfs_rule *rule = tfs_rule_find(argv[i]);
		if (!rule && tell_unwritten(argv[i], paint))
			continue;
		if (!rule)
			return tfs_options_misuse(&tfs_command_rules,
				"unknown rule '%s'; 'tfshim rules' lists the rules", argv[i]);
		if (i > first)
			putchar('\n');
		explain(rule, paint);
	}
	return 0;
}

static const struct tfs_option options[] = {
	{'0', "color", "WHEN", "auto (default), always or never"},
	{0},
};

const struct tfs_command tfs_command_rules = {
	.name = "rules",
	.usage = "[ID...]",
	.summary = "list the rules; with an id or slug, explain the rule and its fix",
	.text = "Lists the rules with id, level, slug, the rewrite that repairs the finding, and title, "
		"then the rules that this version does not check. "
		"For an id or slug, explains what is wrong, why it costs time, what to change, "
		"where the rule is not measurable, and how to ignore it in the gate.",
	.options = options,
	.run = run,
};
