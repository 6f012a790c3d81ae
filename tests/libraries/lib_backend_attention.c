/* SPDX-License-Identifier: MIT */
/*
 * Attention of cuDNN's backend API: as a graph of products, reductions and pointwise operations,
 * which is what cudnn-frontend makes of it, and as one operation; forward and backward; K and V
 * with fewer heads than Q.
 */
#include "tests/libraries/lib_backend.h"

enum { B = 2, H = 4, HK = 2, SQ = 5, SK = 7, D = 3, DV = 2 };
enum { QS = B * H * SQ * D, KS = B * HK * SK * D, VS = B * HK * SK * DV, OS = B * H * SQ * DV };
enum {
	Q = 1,
	K,
	V,
	SCALE,
	O,
	STATS,
	DO,
	DQ,
	DK,
	DVV,
	LENGTH_Q,
	LENGTH_K,
	MASK,
	SEED,
	LOWEST,
	REAL
};

static const int64_t qdim[4] = {B, H, SQ, D}, kdim[4] = {B, HK, SK, D}, vdim[4] = {B, HK, SK, DV};
static const int64_t odim[4] = {B, H, SQ, DV}, sdim[4] = {B, H, SQ, 1}, pdim[4] = {B, H, SQ, SK};
static const int64_t one[4] = {1, 1, 1, 1}, bdim[4] = {B, 1, 1, 1};
static const int lengths_q[B] = {3, SQ}, lengths_k[B] = {SK, 4};
static const float scale = 0.7f, lowest = -INFINITY;
static float *host[REAL], *device[REAL];
static int64_t next_uid;

struct result {
	double o[OS], stats[B * H * SQ], dq[QS], dk[KS], dv[VS];
};

static double dot(const float *a, const float *b, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += (double)a[i] * (double)b[i];
	return sum;
}

/* One row of weights: those of columns that it may see. */
static void reference_row(struct result *r, int b, int h, int row, bool causal, bool shorter)
{
	int index = (b * H + h) * SQ + row, share = b * HK + h / (H / HK);
	const float *q = host[Q] + index * D, *g = host[DO] + index * DV;
	const float *k = host[K] + share * SK * D, *v = host[V] + share * SK * DV;
	int n = causal ? row + 1 : shorter ? lengths_k[b] : SK;
	double p[SK], most = -1e30, sum = 0, all = 0;

	if (shorter && row >= lengths_q[b])
		return;
	for (int i = 0; i < n; i++) {
		p[i] = (double)scale * dot(q, k + i * D, D);
		most = fmax(most, p[i]);
	}
	for (int i = 0; i < n; i++)
		sum += p[i] = exp(p[i] - most);
	r->stats[index] = most + log(sum);
	for (int i = 0; i < n; i++) {
		p[i] /= sum;
		all += p[i] * dot(g, v + i * DV, DV);
		for (int d = 0; d < DV; d++) {
			r->o[index * DV + d] += p[i] * (double)v[i * DV + d];
			r->dv[(share * SK + i) * DV + d] += p[i] * (double)g[d];
		}
	}
	for (int i = 0; i < n; i++) {
		double ds = p[i] * (dot(g, v + i * DV, DV) - all) * (double)scale;

		for (int d = 0; d < D; d++) {
			r->dq[index * D + d] += ds * (double)k[i * D + d];
			r->dk[(share * SK + i) * D + d] += ds * (double)q[d];
		}
	}
}

static struct result *reference(bool causal, bool shorter)
{
	struct result *r = calloc(1, sizeof(*r));

	for (int i = 0; i < B * H * SQ; i++)
		reference_row(r, i / SQ / H, i / SQ % H, i % SQ, causal, shorter);
	return r;
}

static desc_t tensor(int uid, const int64_t *dim)
{
	bool scalar = uid == SCALE || uid == LOWEST;

	return backend_tensor(uid, CUDNN_DATA_FLOAT, scalar ? BACKEND_BY_VALUE : 0, 4, dim, NULL);
}

static desc_t hidden(const int64_t *dim)
{
	return backend_tensor(next_uid++, CUDNN_DATA_FLOAT, BACKEND_VIRTUAL, 4, dim, NULL);
}

/* The same memory with its last two dimensions changed for each other. */
static desc_t transposed(int uid, const int64_t *dim)
{
	int64_t d[4] = {dim[0], dim[1], dim[3], dim[2]};
	int64_t s[4] = {dim[1] * dim[2] * dim[3], dim[2] * dim[3], 1, dim[3]};

	return backend_tensor(
		uid ? uid : next_uid++, CUDNN_DATA_FLOAT, uid ? 0 : BACKEND_VIRTUAL, 4, d, s);
}

/* A graph that grows; each function takes its operands over and returns the result. */
static desc_t ops[32], kept[64];
static int op_count, kept_count;

static desc_t keep(desc_t t)
{
	kept[kept_count++] = t;
	return t;
}

static desc_t matmul(desc_t a, desc_t b, desc_t c)
{
	desc_t params = backend_new(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);

	backend_enum(params, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, params);
	backend_child(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
	backend_child(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
	backend_child(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
	backend_finalize(op);
	cudnnBackendDestroyDescriptor(params);
	ops[op_count++] = op;
	return c;
}

static desc_t reduce(cudnnReduceTensorOp_t kind, desc_t x, desc_t y)
{
	desc_t params = backend_new(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);

	backend_enum(params, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
		(int32_t)kind);
	backend_enum(
		params, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC, params);
	backend_child(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
	backend_child(op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
	backend_finalize(op);
	cudnnBackendDestroyDescriptor(params);
	ops[op_count++] = op;
	return y;
}

static desc_t reshape(desc_t x, desc_t y)
{
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);

	backend_child(op, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
	backend_child(op, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
	backend_finalize(op);
	ops[op_count++] = op;
	return y;
}

static desc_t pointwise(cudnnPointwiseMode_t mode, desc_t x, desc_t b, desc_t y)
{
	ops[op_count++] = backend_pointwise(mode, x, b, y);
	return y;
}

static desc_t scores(cudnnPointwiseMode_t mode, desc_t x, desc_t b)
{
	return pointwise(mode, x, b, keep(hidden(pdim)));
}

/* The index of a score along an axis. */
static desc_t index_of(desc_t x, int64_t axis)
{
	desc_t params = backend_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	desc_t y = keep(hidden(pdim));

	backend_enum(params, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
		CUDNN_POINTWISE_GEN_INDEX);
	backend_int(params, CUDNN_ATTR_POINTWISE_AXIS, axis);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
	backend_finalize(op);
	cudnnBackendDestroyDescriptor(params);
	ops[op_count++] = op;
	return y;
}

/* scale * Q K', and minus infinity above the diagonal. */
static desc_t masked_scores(desc_t q, desc_t kt)
{
	desc_t s = matmul(q, kt, keep(hidden(pdim)));
	desc_t params = backend_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	desc_t y = keep(hidden(pdim));

	s = scores(CUDNN_POINTWISE_MUL, s, keep(tensor(SCALE, one)));
	backend_enum(params, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
		CUDNN_POINTWISE_BINARY_SELECT);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, s);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, keep(tensor(LOWEST, one)));
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC,
		scores(CUDNN_POINTWISE_CMP_GE, index_of(s, 2), index_of(s, 3)));
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
	backend_finalize(op);
	cudnnBackendDestroyDescriptor(params);
	ops[op_count++] = op;
	return y;
}

static void execute(void)
{
	int64_t uids[REAL];
	void *pointers[REAL];
	desc_t graph = backend_graph(ops, op_count);

	for (int i = 0; i < kept_count; i++)
		cudnnBackendDestroyDescriptor(kept[i]);
	op_count = kept_count = 0;
	next_uid = 100;
	for (int i = 0; i < REAL; i++) {
		uids[i] = i;
		pointers[i] = i == SCALE    ? (void *)(uintptr_t)&scale
			      : i == LOWEST ? (void *)(uintptr_t)&lowest
					    : device[i];
	}
	backend_run(graph, REAL, uids, pointers);
}

static void compare_forward(const struct result *r)
{
	backend_compare("o", device[O], r->o, OS, 1e-5);
	backend_compare("statistics", device[STATS], r->stats, B * H * SQ, 1e-5);
}

static void compare_backward(const struct result *r)
{
	backend_compare("dq", device[DQ], r->dq, QS, 1e-5);
	backend_compare("dk", device[DK], r->dk, KS, 1e-5);
	backend_compare("dv", device[DVV], r->dv, VS, 1e-5);
}

static void check_graph_forward(const struct result *r)
{
	desc_t s = masked_scores(keep(tensor(Q, qdim)), keep(transposed(K, kdim)));
	desc_t most = reduce(CUDNN_REDUCE_TENSOR_MAX, s, keep(hidden(sdim)));
	desc_t e = scores(CUDNN_POINTWISE_SUB, s, most), sum, log;

	e = scores(CUDNN_POINTWISE_EXP, e, NULL);
	sum = reduce(CUDNN_REDUCE_TENSOR_ADD, e, keep(hidden(sdim)));
	log = pointwise(CUDNN_POINTWISE_LOG, sum, NULL, keep(hidden(sdim)));
	pointwise(CUDNN_POINTWISE_ADD, most, log, keep(tensor(STATS, sdim)));
	matmul(scores(CUDNN_POINTWISE_DIV, e, sum), keep(tensor(V, vdim)), keep(tensor(O, odim)));
	execute();
	compare_forward(r);
}

/* A gradient of K or V: of all heads of Q, then the sums of those that share. */
static void gradient(desc_t of, desc_t with, const int64_t *dim, int uid)
{
	int64_t full[4] = {B, H, SK, dim[3]};
	desc_t all = keep(hidden(full));

	matmul(reshape(of, keep(transposed(0, pdim))), with, all);
	reduce(CUDNN_REDUCE_TENSOR_ADD, all, keep(tensor(uid, dim)));
}

static void check_graph_backward(const struct result *r)
{
	desc_t q = keep(tensor(Q, qdim)), g = keep(tensor(DO, odim));
	desc_t kt = keep(transposed(K, kdim)), k = keep(hidden(kdim));
	desc_t sum = pointwise(CUDNN_POINTWISE_MUL, g, keep(tensor(O, odim)), keep(hidden(odim)));
	desc_t p, ds;

	sum = reduce(CUDNN_REDUCE_TENSOR_ADD, sum, keep(hidden(sdim)));
	p = scores(CUDNN_POINTWISE_SUB, masked_scores(q, kt), keep(tensor(STATS, sdim)));
	p = scores(CUDNN_POINTWISE_EXP, p, NULL);
	gradient(p, g, vdim, DVV);
	ds = matmul(g, keep(transposed(V, vdim)), keep(hidden(pdim)));
	ds = scores(CUDNN_POINTWISE_SUB, ds, sum);
	ds = scores(CUDNN_POINTWISE_MUL, ds, p);
	ds = scores(CUDNN_POINTWISE_MUL, ds, keep(tensor(SCALE, one)));
	gradient(ds, q, kdim, DK);
	matmul(ds, reshape(kt, k), keep(tensor(DQ, qdim)));
	execute();
	compare_backward(r);
}

/* One operation; its attributes are named in pairs with tensors, up to a 0. */
static void single(cudnnBackendDescriptorType_t type, const int (*list)[2])
{
	static const int64_t *const dims[REAL] = {
		NULL, qdim, kdim, vdim, one, odim, sdim, odim, qdim, kdim, vdim, bdim, bdim};
	desc_t op = backend_new(type);

	for (; (*list)[0]; list++) {
		int uid = (*list)[1];
		bool integer = uid == LENGTH_Q || uid == LENGTH_K;
		desc_t t = keep(integer ? backend_tensor(uid, CUDNN_DATA_INT32, 0, 4, bdim, NULL)
					: tensor(uid, dims[uid]));

		backend_child(op, (cudnnBackendAttributeName_t)(*list)[0], t);
	}
	backend_finalize(op);
	ops[op_count++] = op;
	execute();
}

#define F(name) CUDNN_ATTR_OPERATION_SDPA_FWD_##name
#define G(name) CUDNN_ATTR_OPERATION_SDPA_BWD_##name

static const int forward[][2] = {{F(QDESC), Q}, {F(KDESC), K}, {F(VDESC), V}, {F(ODESC), O},
	{F(STATSDESC), STATS}, {F(SCALEDESC), SCALE}, {0, 0}};
static const int shorter[][2] = {{F(QDESC), Q}, {F(KDESC), K}, {F(VDESC), V}, {F(ODESC), O},
	{F(SCALEDESC), SCALE}, {F(SEQ_LEN_QDESC), LENGTH_Q}, {F(SEQ_LEN_KVDESC), LENGTH_K}, {0, 0}};
static const int backward[][2] = {{G(QDESC), Q}, {G(KDESC), K}, {G(VDESC), V}, {G(ODESC), O},
	{G(STATSDESC), STATS}, {G(SCALEDESC), SCALE}, {G(DODDESC), DO}, {G(DQDESC), DQ},
	{G(DKDESC), DK}, {G(DVDESC), DVV}, {0, 0}};

/* What a backward graph reads and comparing has destroyed. */
static void restore(const struct result *r)
{
	float o[OS], stats[B * H * SQ];

	for (int i = 0; i < OS; i++)
		o[i] = (float)r->o[i];
	for (int i = 0; i < B * H * SQ; i++)
		stats[i] = (float)r->stats[i];
	LIB_EQ(cudaMemcpy(device[O], o, sizeof(o), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cudaMemcpy(device[STATS], stats, sizeof(stats), cudaMemcpyHostToDevice), 0);
}

int main(void)
{
	static const size_t sizes[REAL] = {
		1, QS, KS, VS, 1, OS, B * H * SQ, OS, QS, KS, VS, B, B, 1};
	struct result *causal, *full, *short_rows;

	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	next_uid = 100;
	for (int i = 0; i < REAL; i++) {
		host[i] = lib_values(sizes[i], (uint32_t)i + 1);
		device[i] = lib_upload(host[i], sizes[i]);
	}
	LIB_EQ(cudaMemcpy(device[LENGTH_Q], lengths_q, sizeof(lengths_q), cudaMemcpyHostToDevice),
		0);
	LIB_EQ(cudaMemcpy(device[LENGTH_K], lengths_k, sizeof(lengths_k), cudaMemcpyHostToDevice),
		0);
	causal = reference(true, false);
	full = reference(false, false);
	short_rows = reference(false, true);
	check_graph_forward(causal);
	restore(causal);
	check_graph_backward(causal);
	single(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, forward);
	compare_forward(full);
	restore(full);
	single(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, backward);
	compare_backward(full);
	single(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, shorter);
	backend_compare("o of shorter rows", device[O], short_rows->o, OS, 1e-5);
	for (int i = 0; i < REAL; i++) {
		free(host[i]);
		cudaFree(device[i]);
	}
	free(causal);
	free(full);
	free(short_rows);
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
