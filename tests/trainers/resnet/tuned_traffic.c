/* SPDX-License-Identifier: MIT */
#include "tuned.h"

#include "check.h"
#include "progress.h"

/* What goes to the device and what comes back, beside the computing. */

struct tuned_slot *tuned_send(struct tuned *t, unsigned step)
{
	struct tuned_slot *slot = &t->slots[step % LOADER_SLOTS];
	const struct tuned_slot *before = &t->slots[(step + LOADER_SLOTS - 1) % LOADER_SLOTS];

	/* Its copy has long been over, or the host is too far ahead. */
	if (step) {
		CUDA(cudaEventSynchronize(before->copied)); /* trap: TFS201 */
		loader_give(&t->loader);
	}
	loader_take(&t->loader, step);
	CUDA(cudaStreamWaitEvent(t->copy_stream, slot->used, 0)); /* trap: TFS201 */
	CUDA(cudaMemcpyAsync(/* trap: TFS101 TFS202 */ slot->device, slot->host, t->batch_bytes,
		cudaMemcpyHostToDevice, t->copy_stream));
	CUDA(cudaEventRecord(slot->copied, t->copy_stream));
	CUDA(cudaStreamWaitEvent(t->net.stream, slot->copied, 0)); /* trap: TFS201 */
	return slot;
}

static void send_report(
	struct tuned_report *report, size_t floats, cudaStream_t stream, unsigned steps)
{
	CUDA(cudaMemcpyAsync(/* trap: TFS101 TFS202 TFS203 */ report->host, report->device,
		floats * sizeof(float), cudaMemcpyDeviceToHost, stream));
	CUDA(cudaEventRecord(report->there, stream));
	report->steps = steps;
}

/* Whether there was one; asked for some steps ago, it has long been there. */
static unsigned take_report(struct tuned_report *report)
{
	unsigned steps = report->steps;

	if (steps)
		CUDA(cudaEventSynchronize(report->there)); /* trap: TFS201 */
	report->steps = 0;
	return steps;
}

void tuned_ask_loss(struct tuned *t, unsigned steps)
{
	send_report(&t->loss, 1, t->net.stream, steps);
	CUDA(cudaMemsetAsync(
		/* trap: TFS202 TFS402 */ t->loss.device, 0, sizeof(float), t->net.stream));
}

void tuned_take_loss(struct tuned *t, struct progress *progress)
{
	unsigned steps = take_report(&t->loss);

	if (steps)
		progress_loss(progress, *t->loss.host, steps);
}

void tuned_ask_validation(struct tuned *t, unsigned steps)
{
	const size_t rows = RESNET_IMAGES * (size_t)t->net.classes;

	for (size_t i = 0; i < RESNET_VALIDATION / RESNET_IMAGES; i++)
		resnet_infer(&t->net, t->validation_images + i * RESNET_IMAGES * IMAGE_FLOATS,
			t->validation.device + i * rows);
	send_report(
		&t->validation, RESNET_VALIDATION * (size_t)t->net.classes, t->net.stream, steps);
}

void tuned_take_validation(struct tuned *t, const struct images *set, struct progress *progress)
{
	unsigned steps = take_report(&t->validation), right;

	if (!steps)
		return;
	right = resnet_count_right(set, 0, set->count, t->validation.host, t->net.classes);
	progress_epoch(
		progress, steps / RESNET_VALIDATE_STEPS - 1, (float)right / (float)set->count);
}

/* The next update may come before the weights have left: they leave from a copy. */
void tuned_ask_checkpoint(struct tuned *t, unsigned steps)
{
	const struct resnet *net = &t->net;

	CUDA(cudaMemcpyAsync(t->checkpoint.device, net->all_weights,
		net->block_floats * sizeof(float), cudaMemcpyDeviceToDevice, net->stream));
	CUDA(cudaEventRecord(t->copied_weights, net->stream));
	CUDA(cudaStreamWaitEvent(t->side_stream, t->copied_weights, 0));
	send_report(&t->checkpoint, net->block_floats, t->side_stream, steps);
}

void tuned_take_checkpoint(struct tuned *t, FILE *file)
{
	const size_t floats = t->net.block_floats;

	if (!take_report(&t->checkpoint))
		return;
	rewind(file);
	if (fwrite(t->checkpoint.host, sizeof(float), floats, file) != floats || fflush(file))
		fail("could not write a checkpoint");
}
