/* SPDX-License-Identifier: MIT */
/* Which cores kernels use, by names that were recorded on an A100, an H100 and an H200. */
#include "rules/device/cores.h"

#include "tests/test.h"

static const struct {
	const char *name;
	enum tfs_cores cores;
	bool convolve;
} kernels[] = {
	{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
		TFS_CORES_PLAIN, false},
	{"_ZN7cutlass7Kernel2I42cutlass_80_simt_sgemm_128x64_8x5_nn_align1EEvNT_6ParamsE",
		TFS_CORES_PLAIN, false},
	{"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize32x32x8_stage3_warpsize1x2x1_g1_ffma_aligna4_alignc4_execute_kernel__5x_cudnn",
		TFS_CORES_PLAIN, true},
	{"ampere_scudnn_128x128_relu_medium_nn_v1", TFS_CORES_PLAIN, true},
	{"ampere_sgemm_128x64_nn", TFS_CORES_PLAIN, false},
	{"turing_sgemm_128x64_nn", TFS_CORES_PLAIN, false},
	{"volta_sgemm_128x64_nn", TFS_CORES_PLAIN, false},
	{"maxwell_sgemm_128x64_nn", TFS_CORES_PLAIN, false},
	{"_Z13sgemm_largek_lds64ILb1ELb0ELi5ELi5ELi4ELi4ELi4ELi34EEvPfPKfS2_iiiiiiS2_S2_ffiiPiS3_",
		TFS_CORES_PLAIN, false},
	{"_Z17wgrad_alg0_engineIfLi128ELi5ELi5ELi3ELi3ELi3ELb0ELi512EEviiiPKT_iPS0_S2_18kernel_grad_paramsyifiiii",
		TFS_CORES_PLAIN, true},
	{"_Z23implicit_convolve_sgemmIffLi1024ELi5ELi5ELi3ELi3ELi3ELi1ELb0ELb0ELb1EEviiiPKT_iPT0_S2_18kernel_conv_paramsyiffiPKS3_S7_bbii",
		TFS_CORES_PLAIN, true},
	{"_ZN5cudnn6detail12dgrad_engineIfLi512ELi6ELi5ELi3ELi3ELi3ELb0EEEviiiPKT_iS4_iPS2_18kernel_grad_paramsyiyifiii",
		TFS_CORES_PLAIN, true},
	{"_ZN7cutlass7Kernel2I50cutlass_80_tensorop_s1688gemm_64x64_32x6_nn_align4EEvNT_6ParamsE",
		TFS_CORES_TENSOR, false},
	{"nvjet_sm90_hsh_64x48_64x15_2x4_h_bz_NNT", TFS_CORES_TENSOR, false},
	{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x16_stage4_warpsize2x2x1_tensor16x8x8_execute_kernel__5x_cublas",
		TFS_CORES_TENSOR, false},
	{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize128x128x64_cgasize1x1x1_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
		TFS_CORES_TENSOR, false},
	{"volta_s884cudnn_fp16_256x64_ldg8_relu_exp_interior_nhwc_tn_v1", TFS_CORES_TENSOR, true},
	{"volta_h884gemm_256x64_ldg8_nn", TFS_CORES_TENSOR, false},
	{"turing_h1688gemm_128x128_ldg8_nn", TFS_CORES_TENSOR, false},
	{"ampere_s16816gemm_fp16_128x64_ldg8_stages_64x4_nn", TFS_CORES_TENSOR, false},
	/* halves on plain cores, and what has no products of floats to make */
	{"sm80_xmma_gemm_f16f16_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
		TFS_CORES_OTHER, false},
	{"_ZN8cublasLt19splitKreduce_kernelILi32ELi16EiffffLb0ELb0ELb0EEEvNS_18cublasSplitKParamsIT4_EE",
		TFS_CORES_OTHER, false},
	{"_Z16gemmSN_TN_kernelIfLi128ELi16ELi2ELi4ELi6ELi7ELb0E30cublasGemvTensorStridedBatched",
		TFS_CORES_OTHER, false},
	{"_Z24op_generic_tensor_kernelILi2EfffLi256EL16cudnnGenericOp_t0EL21cudnnNanPropagation_t0ELi0EEv17cudnnTensorStruct",
		TFS_CORES_OTHER, true},
	{"_ZN5cudnn19engines_precompiled16nchwToNhwcKernelIfffLb0ELb1EL21cudnnKernelDataType_t2EEEv",
		TFS_CORES_OTHER, true},
	{"_Z6kernelPf", TFS_CORES_UNKNOWN, false},
	/* a name of the program's own */
	{"_Z15fused_ffma_normPfS_i", TFS_CORES_UNKNOWN, false},
	/* cut short before it says */
	{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8", TFS_CORES_UNKNOWN, false},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (!TEST_EQ(tfs_cores_of(kernels[i].name), kernels[i].cores) ||
			!TEST_EQ(tfs_cores_convolve(kernels[i].name), kernels[i].convolve))
			printf("%s\n", kernels[i].name);
	}
	/* One way and the other; what computes in one of the layouts turns nothing. */
	TEST_TRUE(tfs_cores_turn(
		"_ZN5cudnn19engines_precompiled16nchwToNhwcKernelIfffLb0ELb1EL21cudnnKernelDataType_t2EEEv"));
	TEST_TRUE(tfs_cores_turn(
		"_ZN5cudnn19engines_precompiled16nhwcToNchwKernelIfffLb1ELb0EL21cudnnKernelDataType_t2EEEv"));
	TEST_TRUE(!tfs_cores_turn("volta_s884cudnn_fp16_256x64_ldg8_relu_exp_interior_nhwc_tn_v1"));
	return test_result();
}
