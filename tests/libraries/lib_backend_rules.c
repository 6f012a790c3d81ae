/* SPDX-License-Identifier: MIT */
/* The rules of backend descriptors: types, counts, order of calls, and what is refused. */
#include "tests/libraries/lib_backend.h"

static const int64_t dim[4] = {2, 3, 4, 5}, strides[4] = {60, 20, 5, 1};

#define SET(desc, name, type, count, data)                                                         \
	cudnnBackendSetAttribute(desc, CUDNN_ATTR_##name, CUDNN_TYPE_##type, count, data)
#define GET(desc, name, type, count, got, data)                                                    \
	cudnnBackendGetAttribute(desc, CUDNN_ATTR_##name, CUDNN_TYPE_##type, count, got, data)

static void check_attributes(void)
{
	desc_t t = backend_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	int64_t uid = 7, align = 16, got = -1, back[8] = {0};
	cudnnDataType_t type = CUDNN_DATA_FLOAT;

	LIB_EQ(SET(NULL, TENSOR_DIMENSIONS, INT64, 4, dim), CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(SET(t, TENSOR_DIMENSIONS, INT32, 4, dim), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
	LIB_EQ(SET(t, TENSOR_DIMENSIONS, INT64, 0, dim), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(t, TENSOR_DIMENSIONS, INT64, 4, NULL), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(t, TENSOR_DATA_TYPE, DATA_TYPE, 2, &type), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(t, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, &type), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(t, TENSOR_DATA_TYPE, DATA_TYPE, 1, &type), CUDNN_STATUS_SUCCESS);
	LIB_EQ(SET(t, TENSOR_DIMENSIONS, INT64, 4, dim), CUDNN_STATUS_SUCCESS);
	LIB_EQ(SET(t, TENSOR_STRIDES, INT64, 3, strides), CUDNN_STATUS_SUCCESS);
	LIB_EQ(SET(t, TENSOR_UNIQUE_ID, INT64, 1, &uid), CUDNN_STATUS_SUCCESS);
	LIB_EQ(GET(t, TENSOR_DIMENSIONS, INT64, 4, &got, back), CUDNN_STATUS_NOT_INITIALIZED);
	LIB_EQ(cudnnBackendFinalize(t), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(t, TENSOR_BYTE_ALIGNMENT, INT64, 1, &align), CUDNN_STATUS_SUCCESS);
	LIB_EQ(cudnnBackendFinalize(t), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(t, TENSOR_STRIDES, INT64, 4, strides), CUDNN_STATUS_SUCCESS);
	LIB_EQ(cudnnBackendFinalize(t), CUDNN_STATUS_SUCCESS);
	LIB_EQ(cudnnBackendFinalize(t), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(t, TENSOR_STRIDES, INT64, 4, strides), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(GET(t, TENSOR_DIMENSIONS, INT64, 0, &got, NULL), CUDNN_STATUS_SUCCESS);
	LIB_EQ(got, 4);
	LIB_EQ(GET(t, TENSOR_DIMENSIONS, INT64, 2, &got, back), CUDNN_STATUS_SUCCESS);
	LIB_TRUE(got == 2 && back[0] == 2 && back[1] == 3 && back[2] == 0);
	LIB_EQ(GET(t, TENSOR_DIMENSIONS, INT64, 8, NULL, back), CUDNN_STATUS_SUCCESS);
	LIB_EQ(back[3], 5);
	LIB_EQ(GET(t, TENSOR_DIMENSIONS, INT32, 4, &got, back),
		CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
	LIB_EQ(GET(t, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, &got, back), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(cudnnBackendFinalize(NULL), CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(cudnnBackendDestroyDescriptor(NULL), CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(cudnnBackendDestroyDescriptor(t), CUDNN_STATUS_SUCCESS);
}

/* Each operand of an operation is one tensor, never two. */
static void check_single(void)
{
#define F(name) CUDNN_ATTR_OPERATION_SDPA_FWD_##name
#define G(name) CUDNN_ATTR_OPERATION_SDPA_BWD_##name
	static const cudnnBackendAttributeName_t forward[] = {F(QDESC), F(KDESC), F(VDESC),
		F(ODESC), F(STATSDESC), F(SCALEDESC), F(BLOCK_MASK_DESC), F(PAGE_TABLE_KDESC),
		F(PAGE_TABLE_VDESC), F(SEQ_LEN_QDESC), F(SEQ_LEN_KVDESC)};
	static const cudnnBackendAttributeName_t backward[] = {G(QDESC), G(KDESC), G(VDESC),
		G(ODESC), G(STATSDESC), G(SCALEDESC), G(SEQ_LEN_QDESC), G(SEQ_LEN_KVDESC),
		G(DQDESC), G(DKDESC), G(DVDESC), G(DODDESC)};
#undef F
#undef G
	desc_t op[2] = {backend_new(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR),
		backend_new(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR)};
	desc_t t[2] = {backend_tensor(1, CUDNN_DATA_FLOAT, 0, 4, dim, NULL),
		backend_tensor(2, CUDNN_DATA_FLOAT, 0, 4, dim, NULL)};

	for (int count = 1; count < 3; count++) {
		cudnnStatus_t want = count == 1 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;

		for (size_t i = 0; i < sizeof(forward) / sizeof(forward[0]); i++)
			LIB_EQ(cudnnBackendSetAttribute(
				       op[0], forward[i], CUDNN_TYPE_BACKEND_DESCRIPTOR, count, t),
				want);
		for (size_t i = 0; i < sizeof(backward) / sizeof(backward[0]); i++)
			LIB_EQ(cudnnBackendSetAttribute(
				       op[1], backward[i], CUDNN_TYPE_BACKEND_DESCRIPTOR, count, t),
				want);
	}
	for (int i = 0; i < 2; i++) {
		cudnnBackendDestroyDescriptor(op[i]);
		cudnnBackendDestroyDescriptor(t[i]);
	}
}

static void check_children(void)
{
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	desc_t params = backend_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	desc_t t = backend_tensor(1, CUDNN_DATA_FLOAT, 0, 4, dim, NULL);
	desc_t plan = backend_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	desc_t heuristics = backend_new(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	int64_t size = 0;

	LIB_EQ(SET(op, OPERATION_POINTWISE_PW_DESCRIPTOR, BACKEND_DESCRIPTOR, 1, &params),
		CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
	LIB_EQ(cudnnBackendFinalize(op), CUDNN_STATUS_BAD_PARAM);
	backend_finalize(params);
	LIB_EQ(SET(op, OPERATION_POINTWISE_PW_DESCRIPTOR, BACKEND_DESCRIPTOR, 1, &params), 0);
	LIB_EQ(SET(op, OPERATION_POINTWISE_XDESC, BACKEND_DESCRIPTOR, 1, &t), 0);
	LIB_EQ(SET(op, OPERATION_POINTWISE_YDESC, BACKEND_DESCRIPTOR, 1, &t), 0);
	/* An addition wants two operands. */
	LIB_EQ(cudnnBackendFinalize(op), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(op, OPERATION_POINTWISE_BDESC, BACKEND_DESCRIPTOR, 1, &params), 0);
	LIB_EQ(cudnnBackendFinalize(op), CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
	LIB_EQ(SET(op, OPERATION_POINTWISE_BDESC, BACKEND_DESCRIPTOR, 1, &t), 0);
	LIB_EQ(cudnnBackendFinalize(op), 0);
	LIB_EQ(SET(plan, EXECUTION_PLAN_WORKSPACE_SIZE, INT64, 1, &size),
		CUDNN_STATUS_NOT_SUPPORTED);
	LIB_EQ(GET(plan, EXECUTION_PLAN_WORKSPACE_SIZE, INT64, 1, NULL, &size),
		CUDNN_STATUS_NOT_INITIALIZED);
	LIB_EQ(cudnnBackendFinalize(heuristics), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(cudnnBackendExecute(dnn, plan, plan), CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
	cudnnBackendDestroyDescriptor(op);
	cudnnBackendDestroyDescriptor(params);
	cudnnBackendDestroyDescriptor(t);
	cudnnBackendDestroyDescriptor(plan);
	cudnnBackendDestroyDescriptor(heuristics);
}

/* How to reduce is said by a descriptor of reductions, how to multiply by one of products. */
static void check_kinds(void)
{
	desc_t op[2] = {backend_new(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR),
		backend_new(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)};
	desc_t params = backend_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	static const int64_t square[3] = {2, 3, 3};
	desc_t t = backend_tensor(1, CUDNN_DATA_FLOAT, 0, 3, square, NULL);

	backend_finalize(params);
	backend_child(op[0], CUDNN_ATTR_OPERATION_REDUCTION_DESC, params);
	backend_child(op[0], CUDNN_ATTR_OPERATION_REDUCTION_XDESC, t);
	backend_child(op[0], CUDNN_ATTR_OPERATION_REDUCTION_YDESC, t);
	backend_child(op[1], CUDNN_ATTR_OPERATION_MATMUL_DESC, params);
	backend_child(op[1], CUDNN_ATTR_OPERATION_MATMUL_ADESC, t);
	backend_child(op[1], CUDNN_ATTR_OPERATION_MATMUL_BDESC, t);
	backend_child(op[1], CUDNN_ATTR_OPERATION_MATMUL_CDESC, t);
	for (int i = 0; i < 2; i++) {
		LIB_EQ(cudnnBackendFinalize(op[i]), CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
		cudnnBackendDestroyDescriptor(op[i]);
	}
	cudnnBackendDestroyDescriptor(params);
	cudnnBackendDestroyDescriptor(t);
}

/* What is refused is said. */
static void check_message(void)
{
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), none = NULL;
	char text[256] = "";

	LIB_EQ(SET(op, OPERATION_POINTWISE_PW_DESCRIPTOR, BACKEND_DESCRIPTOR, 1, &none),
		CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	cudnnGetLastErrorString(text, sizeof(text));
	LIB_TRUE(strstr(text, "descriptor"));
	cudnnBackendDestroyDescriptor(op);
}

static void check_pack(void)
{
	desc_t pack = backend_new(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	int64_t uids[2] = {3, 3};
	void *pointers[2] = {&pack, &pack};

	LIB_EQ(SET(pack, VARIANT_PACK_UNIQUE_IDS, INT64, 2, uids), 0);
	LIB_EQ(SET(pack, VARIANT_PACK_DATA_POINTERS, VOID_PTR, 1, pointers), 0);
	LIB_EQ(cudnnBackendFinalize(pack), CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(SET(pack, VARIANT_PACK_DATA_POINTERS, VOID_PTR, 2, pointers), 0);
	LIB_EQ(cudnnBackendFinalize(pack), CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES);
	cudnnBackendDestroyDescriptor(pack);
}

static desc_t addition(cudnnDataType_t type, const int64_t *uid)
{
	desc_t t[3], op;

	for (int i = 0; i < 3; i++)
		t[i] = backend_tensor(
			uid[i], type, uid[i] < 10 ? 0 : BACKEND_VIRTUAL, 4, dim, NULL);
	op = backend_pointwise(CUDNN_POINTWISE_ADD, t[0], t[1], t[2]);
	for (int i = 0; i < 3; i++)
		cudnnBackendDestroyDescriptor(t[i]);
	return op;
}

static void refuse(const char *what, desc_t *ops, int n, cudnnStatus_t want)
{
	desc_t graph = backend_graph(ops, n);

	if (!LIB_EQ(cudnnBackendFinalize(graph), want))
		printf("%s\n", what);
	cudnnBackendDestroyDescriptor(graph);
}

static void check_graphs(void)
{
	desc_t ops[2];

	ops[0] = addition(CUDNN_DATA_FP8_E4M3, (int64_t[]){1, 2, 3});
	refuse("type", ops, 1, CUDNN_STATUS_NOT_SUPPORTED);
	ops[0] = backend_new(CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR);
	backend_finalize(ops[0]);
	refuse("signal", ops, 1, CUDNN_STATUS_NOT_SUPPORTED);
	ops[0] = addition(CUDNN_DATA_FLOAT, (int64_t[]){1, 11, 3});
	refuse("virtual input", ops, 1, CUDNN_STATUS_BAD_PARAM);
	ops[0] = addition(CUDNN_DATA_FLOAT, (int64_t[]){1, 11, 12});
	ops[1] = addition(CUDNN_DATA_FLOAT, (int64_t[]){1, 12, 11});
	refuse("cycle", ops, 2, CUDNN_STATUS_BAD_PARAM);
	ops[0] = addition(CUDNN_DATA_FLOAT, (int64_t[]){1, 2, 3});
	ops[1] = addition(CUDNN_DATA_FLOAT, (int64_t[]){1, 2, 3});
	refuse("two writers", ops, 2, CUDNN_STATUS_BAD_PARAM);
}

/* An engine by number, with a choice of its knob. */
static void check_engine(void)
{
	desc_t op = addition(CUDNN_DATA_FLOAT, (int64_t[]){1, 2, 3}), graph = backend_graph(&op, 1);
	desc_t engine = backend_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	desc_t config = backend_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	desc_t knob = backend_new(CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);
	desc_t choice = backend_new(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
	int64_t count = 0, most = 0;
	cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;

	backend_finalize(graph);
	LIB_EQ(GET(graph, OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, INT64, 1, NULL, &count), 0);
	LIB_TRUE(count > 0);
	backend_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
	backend_int(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, count);
	LIB_EQ(cudnnBackendFinalize(engine), CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
	backend_int(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0);
	backend_finalize(engine);
	LIB_EQ(GET(engine, ENGINE_KNOB_INFO, BACKEND_DESCRIPTOR, 1, &count, &choice),
		CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
	LIB_EQ(GET(engine, ENGINE_KNOB_INFO, BACKEND_DESCRIPTOR, 1, &count, &knob), 0);
	LIB_EQ(GET(knob, KNOB_INFO_TYPE, KNOB_TYPE, 1, NULL, &type), 0);
	LIB_EQ(GET(knob, KNOB_INFO_MAXIMUM_VALUE, INT64, 1, NULL, &most), 0);
	backend_enum(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, (int32_t)type);
	backend_int(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, most + 1);
	backend_finalize(choice);
	backend_child(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	backend_child(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, choice);
	LIB_EQ(cudnnBackendFinalize(config), CUDNN_STATUS_NOT_SUPPORTED);
	cudnnBackendDestroyDescriptor(graph);
	cudnnBackendDestroyDescriptor(engine);
	cudnnBackendDestroyDescriptor(config);
	cudnnBackendDestroyDescriptor(knob);
	cudnnBackendDestroyDescriptor(choice);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	check_attributes();
	check_single();
	check_children();
	check_kinds();
	check_message();
	check_pack();
	check_graphs();
	check_engine();
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
