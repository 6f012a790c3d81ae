/* SPDX-License-Identifier: MIT */
#include "reports/support/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/build/build.h"
#include "reports/build/places.h"
#include "reports/import/import.h"
#include "reports/support/options.h"
#include "reports/support/progress.h"
#include "rules/judge/judge.h"

static void set_why(char **out_why, const char *what, int err, const struct tfs_damage *damage)
{
	bool absent = err == -ENOENT || err == -EACCES || err == -EISDIR;
	if (damage && damage->what && err == -EPROTO) {
		*out_why = strdup(damage->what);
	} else if (damage && damage->what && !absent) {
		if (asprintf(out_why, "%s (at byte %llu)", damage->what,
			    (unsigned long long)damage->offset) < 0)
			*out_why = NULL;
	} else if (asprintf(out_why, "%s: %s", what, strerror(-err)) < 0) {
		*out_why = NULL;
	}
}

static int build_model(struct tfs_build *build, const char *path, bool charts)
{
	build->places = tfs_places_create(build->trace, &build->model->arena);
	if (!build->places)
		return -ENOMEM;
	tfs_build_findings(build);
	tfs_build_calls(build);
	/* Last: only now is it known which files could be read. */
	tfs_build_head(build, path);
	tfs_build_headline(build);
	tfs_build_expenses(build);
	if (charts) {
		tfs_build_charts(build);
		tfs_build_idle(build);
		tfs_build_lanes(build);
		tfs_build_memory(build);
		tfs_build_tree(build);
		tfs_build_layers(build);
	}
	tfs_places_destroy(build->places);
	return build->model->arena.failed ? -ENOMEM : 0;
}

bool tfs_load_knows_rules(const char *list)
{
	return tfs_rule_list_valid(list);
}

int tfs_load_trace(struct tfs_trace *trace, const char *path,
	const struct tfs_load_options *options, struct tfs_model *out_model, char **out_why)
{
	struct tfs_timeline *timeline = NULL;
	struct tfs_judgement *judgement = NULL;

	tfs_progress_say("building the timeline");
	int err = tfs_timeline_create(trace, &timeline);
	if (err) {
		set_why(out_why, "no timeline can be built", err, NULL);
		goto out;
	}
	tfs_progress_say("judging");
	err = tfs_judge(timeline,
		&(struct tfs_judge_options){.select = options->select, .ignore = options->ignore},
		&judgement);
	if (err) {
		set_why(out_why, "cannot be judged", err, NULL);
		goto out;
	}
	tfs_progress_say("resolving call sites");
	memset(out_model, 0, sizeof(*out_model));
	struct tfs_build build = {
		.trace = trace, .timeline = timeline, .judgement = judgement, .model = out_model};
	err = build_model(&build, path, options->charts);
	if (err) {
		set_why(out_why, "no report can be made", err, NULL);
		tfs_model_finish(out_model);
	}
out:
	tfs_judgement_destroy(judgement);
	tfs_timeline_destroy(timeline);
	return err;
}

/* What is no recording may be one of another tool; its bytes are freed behind the trace. */
static int open_any(
	const char *path, void **out_bytes, struct tfs_trace **out_trace, char **out_why)
{
	struct tfs_damage damage = {0};
	size_t size;

	int err = tfs_trace_open(path, &damage, out_trace);
	if (!err)
		return 0;
	int other = err == -EBADMSG || err == -ENOENT ? tfs_import(path, out_bytes, &size, out_why)
						      : -ENOTSUP;
	if (other == -ENOTSUP)
		set_why(out_why, "cannot be read", err, &damage);
	else if (!other)
		other = tfs_trace_open_memory(*out_bytes, size, NULL, out_trace);
	return other == -ENOTSUP ? err : other;
}

int tfs_load_status(int err)
{
	return err == -ENOMEM ? TFS_EXIT_MISUSE : TFS_EXIT_NO_DATA;
}

int tfs_load(const char *path, const struct tfs_load_options *options, struct tfs_model *out_model,
	char **out_why)
{
	struct tfs_trace *trace = NULL;
	void *bytes = NULL;

	*out_why = NULL;
	tfs_progress_start(options->progress, path);
	int err = open_any(path, &bytes, &trace, out_why);
	if (!err)
		err = tfs_load_trace(trace, path, options, out_model, out_why);
	tfs_progress_end();
	tfs_trace_close(trace);
	free(bytes);
	return err;
}
