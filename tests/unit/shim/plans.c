/* SPDX-License-Identifier: MIT */
/* What plans of cuDNN's graph API compute, by the calls that build them. */
#include "shim/state/plans.h"

#include "shim/base/child.h"
#include "tests/unit/trace/recording.h"

#define MANY 20000u /* more than are kept */

static uintptr_t next = 1;

static cudnnBackendDescriptor_t make(cudnnBackendDescriptorType_t type)
{
	/* An address: the descriptor itself is never looked at. */
	const cudnnBackendDescriptor_t made = (cudnnBackendDescriptor_t)(next++ * 64);

	tfs_plan_created(made, type);
	return made;
}

static void refer(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
	cudnnBackendDescriptor_t to)
{
	tfs_plan_set(from, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to);
}

static cudnnBackendDescriptor_t tensor(cudnnDataType_t type, int64_t channels, int64_t columns)
{
	const int64_t strides[] = {1 << 20, channels, 1 << 10, columns};
	const cudnnBackendDescriptor_t made = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);

	tfs_plan_set(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	tfs_plan_set(made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
	return made;
}

/* Of tensors of this type; the sums are taken in float. */
static cudnnBackendDescriptor_t convolution(cudnnDataType_t type, int64_t channels, int64_t columns)
{
	const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
	const cudnnBackendDescriptor_t op =
		make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
	const cudnnBackendDescriptor_t how = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	const cudnnBackendDescriptor_t x = tensor(type, channels, columns);

	tfs_plan_set(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
	refer(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how);
	/* What is written has another type, and does not count. */
	refer(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
		tensor(CUDNN_DATA_DOUBLE, channels * 3, columns * 3));
	refer(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
	tfs_plan_destroyed(how);
	tfs_plan_destroyed(x);
	return op;
}

/* What is said of it can be asked of the plan, though all else is destroyed by then. */
static cudnnBackendDescriptor_t graph(const cudnnBackendDescriptor_t *ops, int64_t count)
{
	const cudnnBackendDescriptor_t made = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	tfs_plan_set(
		made, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, ops);
	for (int64_t i = 0; i < count; i++)
		tfs_plan_destroyed(ops[i]);
	return made;
}

static cudnnBackendDescriptor_t plan_of(cudnnBackendDescriptor_t config)
{
	const cudnnBackendDescriptor_t plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);

	refer(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	tfs_plan_destroyed(config);
	return plan;
}

/* An engine by its number. */
static cudnnBackendDescriptor_t plan_by_engine(cudnnBackendDescriptor_t of)
{
	const cudnnBackendDescriptor_t engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	const cudnnBackendDescriptor_t config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);

	refer(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
	refer(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	tfs_plan_destroyed(of);
	tfs_plan_destroyed(engine);
	return plan_of(config);
}

/* One of the two that heuristics propose. */
static cudnnBackendDescriptor_t plan_by_heuristic(cudnnBackendDescriptor_t of, unsigned which)
{
	const cudnnBackendDescriptor_t heuristics = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	const cudnnBackendDescriptor_t configs[] = {
		make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)};

	refer(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of);
	tfs_plan_got(heuristics, CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, configs);
	tfs_plan_destroyed(of);
	tfs_plan_destroyed(heuristics);
	tfs_plan_destroyed(configs[1 - which]);
	return plan_of(configs[which]);
}

static cudnnBackendDescriptor_t plan_by_heuristics(cudnnBackendDescriptor_t of)
{
	return plan_by_heuristic(of, 1);
}

static void check(cudnnBackendDescriptor_t plan, uint32_t operations, int type, int compute,
	enum tfs_layout layout)
{
	const uint64_t all = tfs_plan_operations(plan);

	TEST_EQ(TFS_OPERATIONS_ALL(all), operations);
	TEST_EQ(TFS_OPERATIONS_TYPE(all), type);
	TEST_EQ(TFS_OPERATIONS_COMPUTE(all), compute);
	TEST_EQ(TFS_OPERATIONS_LAYOUT(all), (uint32_t)layout);
	tfs_plan_destroyed(plan);
	TEST_EQ(tfs_plan_operations(plan), 0);
}

static void test_ways(void)
{
	cudnnBackendDescriptor_t op = convolution(CUDNN_DATA_HALF, 1, 64);

	check(plan_by_engine(graph(&op, 1)), TFS_OPERATION_CONVOLUTION, CUDNN_DATA_HALF,
		CUDNN_DATA_FLOAT, TFS_LAYOUT_CHANNELS_LAST);
	op = convolution(CUDNN_DATA_FLOAT, 4096, 1);
	check(plan_by_heuristics(graph(&op, 1)), TFS_OPERATION_CONVOLUTION, CUDNN_DATA_FLOAT,
		CUDNN_DATA_FLOAT, TFS_LAYOUT_CHANNELS_APART);
	/* The first is the one that most programs take. */
	op = convolution(CUDNN_DATA_HALF, 4096, 1);
	check(plan_by_heuristic(graph(&op, 1), 0), TFS_OPERATION_CONVOLUTION, CUDNN_DATA_HALF,
		CUDNN_DATA_FLOAT, TFS_LAYOUT_CHANNELS_APART);
}

/* What is added to a product's results says nothing about what it reads, in whatever order. */
static void test_fused(void)
{
	const cudnnBackendDescriptor_t add = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	const cudnnBackendDescriptor_t bias = tensor(CUDNN_DATA_FLOAT, 4096, 1);

	refer(add, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, bias);
	const cudnnBackendDescriptor_t ops[] = {add, convolution(CUDNN_DATA_HALF, 1, 64)};
	check(plan_by_heuristics(graph(ops, 2)),
		TFS_OPERATION_CONVOLUTION | TFS_OPERATION_POINTWISE, CUDNN_DATA_HALF,
		CUDNN_DATA_FLOAT, TFS_LAYOUT_CHANNELS_LAST);
}

/* One channel, or one pixel: both layouts at once. */
static void test_layout(void)
{
	cudnnBackendDescriptor_t op = convolution(CUDNN_DATA_FLOAT, 1, 1);

	check(plan_by_engine(graph(&op, 1)), TFS_OPERATION_CONVOLUTION, CUDNN_DATA_FLOAT,
		CUDNN_DATA_FLOAT, TFS_LAYOUT_UNKNOWN);
}

/* A product of four-dimensional tensors, as attention has them. */
static void test_product(void)
{
	const cudnnBackendDescriptor_t x = tensor(CUDNN_DATA_BFLOAT16, 4096, 1);
	const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
	cudnnBackendDescriptor_t op = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
	const cudnnBackendDescriptor_t how = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);

	tfs_plan_set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
	/* What the other operand was made of by a graph's operation has a type of cuDNN's. */
	const cudnnBackendDescriptor_t made = tensor(CUDNN_DATA_FLOAT, 4096, 1);
	const bool yes = true;

	tfs_plan_set(made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
	refer(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, made);
	refer(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, x);
	refer(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
	check(plan_by_heuristics(graph(&op, 1)), TFS_OPERATION_PRODUCT, CUDNN_DATA_BFLOAT16,
		CUDNN_DATA_FLOAT, TFS_LAYOUT_UNKNOWN);
}

static void test_others(void)
{
	const struct {
		cudnnBackendDescriptorType_t type;
		uint32_t operation;
	} known[] = {
		{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
			TFS_OPERATION_CONVOLUTION},
		{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
			TFS_OPERATION_CONVOLUTION},
		{CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, TFS_OPERATION_PRODUCT},
		{CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR, TFS_OPERATION_PRODUCT},
		{CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, TFS_OPERATION_ATTENTION},
		{CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, TFS_OPERATION_ATTENTION},
		{CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, TFS_OPERATION_NORMALISATION},
		{CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR, TFS_OPERATION_NORMALISATION},
		{CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR, TFS_OPERATION_NORMALISATION},
		{CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR,
			TFS_OPERATION_NORMALISATION},
		{CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR, TFS_OPERATION_NORMALISATION},
		{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, TFS_OPERATION_POINTWISE},
		{CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, TFS_OPERATION_OTHER},
		/* Of a newer version: it may be anything. */
		{(cudnnBackendDescriptorType_t)1000, 0},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const cudnnBackendDescriptor_t op = make(known[i].type);

		check(plan_by_engine(graph(&op, 1)), known[i].operation, -1, -1,
			TFS_LAYOUT_UNKNOWN);
	}
}

/* What each operation reads, and what it writes, which has another type. */
static void test_inputs(void)
{
	static const struct {
		cudnnBackendDescriptorType_t type;
		uint32_t operation;
		cudnnBackendAttributeName_t reads, writes;
	} cases[] = {
#define CASE(type, operation, reads, writes)                                                       \
	{CUDNN_BACKEND_OPERATION_##type##_DESCRIPTOR, TFS_OPERATION_##operation,                   \
		CUDNN_ATTR_OPERATION_##reads, CUDNN_ATTR_OPERATION_##writes}
		CASE(CONVOLUTION_FORWARD, CONVOLUTION, CONVOLUTION_FORWARD_X,
			CONVOLUTION_FORWARD_Y),
		CASE(CONVOLUTION_FORWARD, CONVOLUTION, CONVOLUTION_FORWARD_W,
			CONVOLUTION_FORWARD_Y),
		CASE(CONVOLUTION_BACKWARD_DATA, CONVOLUTION, CONVOLUTION_BWD_DATA_W,
			CONVOLUTION_BWD_DATA_DX),
		CASE(CONVOLUTION_BACKWARD_DATA, CONVOLUTION, CONVOLUTION_BWD_DATA_DY,
			CONVOLUTION_BWD_DATA_DX),
		CASE(CONVOLUTION_BACKWARD_FILTER, CONVOLUTION, CONVOLUTION_BWD_FILTER_X,
			CONVOLUTION_BWD_FILTER_DW),
		CASE(CONVOLUTION_BACKWARD_FILTER, CONVOLUTION, CONVOLUTION_BWD_FILTER_DY,
			CONVOLUTION_BWD_FILTER_DW),
		CASE(MATMUL, PRODUCT, MATMUL_ADESC, MATMUL_CDESC),
		CASE(MATMUL, PRODUCT, MATMUL_BDESC, MATMUL_CDESC),
		CASE(SDPA_FWD, ATTENTION, SDPA_FWD_QDESC, SDPA_FWD_ODESC),
		CASE(SDPA_BWD, ATTENTION, SDPA_BWD_QDESC, SDPA_BWD_DQDESC),
#undef CASE
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const cudnnBackendDescriptor_t op = make(cases[i].type);

		refer(op, cases[i].writes, tensor(CUDNN_DATA_DOUBLE, 1, 64));
		refer(op, cases[i].reads, tensor(CUDNN_DATA_HALF, 4096, 1));
		/* Only images have a layout. */
		check(plan_by_engine(graph(&op, 1)), cases[i].operation, CUDNN_DATA_HALF, -1,
			cases[i].operation == TFS_OPERATION_CONVOLUTION ? TFS_LAYOUT_CHANNELS_APART
									: TFS_LAYOUT_UNKNOWN);
	}
}

/* Two inputs of different types and layouts; and a graph of which one operation is not known. */
static void test_differs(void)
{
	cudnnBackendDescriptor_t ops[] = {convolution(CUDNN_DATA_HALF, 1, 64), NULL};

	refer(ops[0], CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
		tensor(CUDNN_DATA_FLOAT, 4096, 1));
	check(plan_by_engine(graph(ops, 1)), TFS_OPERATION_CONVOLUTION, -1, CUDNN_DATA_FLOAT,
		TFS_LAYOUT_UNKNOWN);
	/* Sums in other types. */
	const cudnnBackendDescriptor_t how = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
	const cudnnDataType_t compute = CUDNN_DATA_HALF;

	ops[0] = convolution(CUDNN_DATA_HALF, 1, 64);
	ops[1] = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
	tfs_plan_set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
	refer(ops[1], CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
	check(plan_by_engine(graph(ops, 2)), TFS_OPERATION_CONVOLUTION | TFS_OPERATION_PRODUCT,
		CUDNN_DATA_HALF, -1, TFS_LAYOUT_CHANNELS_LAST);
	ops[0] = convolution(CUDNN_DATA_HALF, 1, 64);
	ops[1] = (cudnnBackendDescriptor_t)8;
	TEST_EQ(tfs_plan_operations(plan_by_engine(graph(ops, 2))), 0);
}

/* Operations that a graph is asked for stay what they are. */
static void test_asked(void)
{
	cudnnBackendDescriptor_t ops[] = {convolution(CUDNN_DATA_HALF, 1, 64),
		make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)};
	const cudnnBackendDescriptor_t both = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	tfs_plan_set(both, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, ops);
	tfs_plan_got(both, CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, ops);
	tfs_plan_destroyed(both);
	check(plan_by_engine(graph(&ops[1], 1)), TFS_OPERATION_POINTWISE, -1, -1,
		TFS_LAYOUT_UNKNOWN);
	check(plan_by_engine(graph(ops, 1)), TFS_OPERATION_CONVOLUTION, CUDNN_DATA_HALF,
		CUDNN_DATA_FLOAT, TFS_LAYOUT_CHANNELS_LAST);
}

/* Made from text, or destroyed unseen before another got its address. */
static void test_unknown(void)
{
	const cudnnBackendDescriptor_t plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	cudnnBackendDescriptor_t op = convolution(CUDNN_DATA_FLOAT, 4096, 1);
	const cudnnBackendDescriptor_t stale = plan_by_engine(graph(&op, 1));

	TEST_EQ(tfs_plan_operations(plan), 0);
	TEST_EQ(tfs_plan_operations(NULL), 0);
	tfs_plan_created(stale, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	TEST_EQ(tfs_plan_operations(stale), 0);
}

/* Those that come when there is no room are not known; all others are still found. */
static void test_many(void)
{
	static cudnnBackendDescriptor_t plans[MANY];
	cudnnBackendDescriptor_t op = convolution(CUDNN_DATA_FLOAT, 4096, 1);
	const cudnnBackendDescriptor_t config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	uint32_t known = 0;

	refer(config, CUDNN_ATTR_ENGINECFG_ENGINE, op);
	for (unsigned i = 0; i < MANY; i++) {
		plans[i] = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
		refer(plans[i], CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	}
	for (unsigned i = 0; i < MANY; i += 2)
		tfs_plan_destroyed(plans[i]);
	for (unsigned i = 0; i < MANY; i++) {
		const bool there = tfs_plan_operations(plans[i]) != 0;

		TEST_TRUE(!there || i % 2 == 1);
		known += there;
	}
	TEST_IN(known, 6000, 6144);
	for (unsigned i = 0; i < MANY; i++)
		tfs_plan_destroyed(plans[i]);
	op = convolution(CUDNN_DATA_FLOAT, 4096, 1);
	check(plan_by_engine(graph(&op, 1)), TFS_OPERATION_CONVOLUTION, CUDNN_DATA_FLOAT,
		CUDNN_DATA_FLOAT, TFS_LAYOUT_CHANNELS_APART);
}

/* In a child the lock may be held by a thread that is none of its own. */
static void test_child(void)
{
	cudnnBackendDescriptor_t op = convolution(CUDNN_DATA_FLOAT, 4096, 1);
	const cudnnBackendDescriptor_t plan = plan_by_engine(graph(&op, 1));

	TEST_TRUE(tfs_plan_operations(plan));
	tfs_child_found();
	TEST_EQ(tfs_plan_operations(plan), 0);
	tfs_plan_destroyed(plan);
	tfs_plan_created(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	TEST_EQ(tfs_plan_operations(plan), 0);
}

/* Before anything is recorded, as where the library is switched off. */
static void test_off(void)
{
	cudnnBackendDescriptor_t op = convolution(CUDNN_DATA_FLOAT, 4096, 1);

	TEST_EQ(tfs_plan_operations(plan_by_engine(graph(&op, 1))), 0);
}

int main(void)
{
	test_off();
	recording_start();
	test_ways();
	test_fused();
	test_layout();
	test_product();
	test_others();
	test_inputs();
	test_differs();
	test_asked();
	test_unknown();
	test_many();
	test_child();
	return test_result();
}
