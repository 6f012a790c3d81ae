/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDNN_CUDNN_OLD_H
#define TFS_SHIM_HOOKS_CUDNN_CUDNN_OLD_H

/* Functions of cuDNN 8 that cuDNN 9 no longer has, and that put work on the device. Its headers
 * declare none of them. For generate.py; how to call them is cuDNN 8's to say. */

#include <cudnn.h>

cudnnStatus_t cudnnRNNForwardInference(cudnnHandle_t handle, const cudnnRNNDescriptor_t net,
	const int length, const cudnnTensorDescriptor_t *x_like, const void *x,
	const cudnnTensorDescriptor_t hx_like, const void *hx,
	const cudnnTensorDescriptor_t cx_like, const void *cx, const cudnnFilterDescriptor_t w_like,
	const void *w, const cudnnTensorDescriptor_t *y_like, void *y,
	const cudnnTensorDescriptor_t hy_like, void *hy, const cudnnTensorDescriptor_t cy_like,
	void *cy, void *workspace, size_t workspace_bytes);
cudnnStatus_t cudnnRNNForwardTraining(cudnnHandle_t handle, const cudnnRNNDescriptor_t net,
	const int length, const cudnnTensorDescriptor_t *x_like, const void *x,
	const cudnnTensorDescriptor_t hx_like, const void *hx,
	const cudnnTensorDescriptor_t cx_like, const void *cx, const cudnnFilterDescriptor_t w_like,
	const void *w, const cudnnTensorDescriptor_t *y_like, void *y,
	const cudnnTensorDescriptor_t hy_like, void *hy, const cudnnTensorDescriptor_t cy_like,
	void *cy, void *workspace, size_t workspace_bytes, void *reserve, size_t reserve_bytes);
cudnnStatus_t cudnnRNNBackwardData(cudnnHandle_t handle, const cudnnRNNDescriptor_t net,
	const int length, const cudnnTensorDescriptor_t *y_like, const void *y,
	const cudnnTensorDescriptor_t *dy_like, const void *dy,
	const cudnnTensorDescriptor_t dhy_like, const void *dhy,
	const cudnnTensorDescriptor_t dcy_like, const void *dcy,
	const cudnnFilterDescriptor_t w_like, const void *w, const cudnnTensorDescriptor_t hx_like,
	const void *hx, const cudnnTensorDescriptor_t cx_like, const void *cx,
	const cudnnTensorDescriptor_t *dx_like, void *dx, const cudnnTensorDescriptor_t dhx_like,
	void *dhx, const cudnnTensorDescriptor_t dcx_like, void *dcx, void *workspace,
	size_t workspace_bytes, void *reserve, size_t reserve_bytes);
cudnnStatus_t cudnnRNNBackwardWeights(cudnnHandle_t handle, const cudnnRNNDescriptor_t net,
	const int length, const cudnnTensorDescriptor_t *x_like, const void *x,
	const cudnnTensorDescriptor_t hx_like, const void *hx,
	const cudnnTensorDescriptor_t *y_like, const void *y, const void *workspace,
	size_t workspace_bytes, const cudnnFilterDescriptor_t dw_like, void *dw,
	const void *reserve, size_t reserve_bytes);

/* The same for sequences that are not packed. Some of what they take is not used yet. */
cudnnStatus_t cudnnRNNForwardInferenceEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t net,
	const cudnnRNNDataDescriptor_t x_like, const void *x, const cudnnTensorDescriptor_t hx_like,
	const void *hx, const cudnnTensorDescriptor_t cx_like, const void *cx,
	const cudnnFilterDescriptor_t w_like, const void *w, const cudnnRNNDataDescriptor_t y_like,
	void *y, const cudnnTensorDescriptor_t hy_like, void *hy,
	const cudnnTensorDescriptor_t cy_like, void *cy, const cudnnRNNDataDescriptor_t k_like,
	const void *keys, const cudnnRNNDataDescriptor_t c_like, void *c,
	const cudnnRNNDataDescriptor_t i_like, void *i, const cudnnRNNDataDescriptor_t q_like,
	void *queries, void *workspace, size_t workspace_bytes);
cudnnStatus_t cudnnRNNForwardTrainingEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t net,
	const cudnnRNNDataDescriptor_t x_like, const void *x, const cudnnTensorDescriptor_t hx_like,
	const void *hx, const cudnnTensorDescriptor_t cx_like, const void *cx,
	const cudnnFilterDescriptor_t w_like, const void *w, const cudnnRNNDataDescriptor_t y_like,
	void *y, const cudnnTensorDescriptor_t hy_like, void *hy,
	const cudnnTensorDescriptor_t cy_like, void *cy, const cudnnRNNDataDescriptor_t k_like,
	const void *keys, const cudnnRNNDataDescriptor_t c_like, void *c,
	const cudnnRNNDataDescriptor_t i_like, void *i, const cudnnRNNDataDescriptor_t q_like,
	void *queries, void *workspace, size_t workspace_bytes, void *reserve,
	size_t reserve_bytes);
cudnnStatus_t cudnnRNNBackwardDataEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t net,
	const cudnnRNNDataDescriptor_t y_like, const void *y,
	const cudnnRNNDataDescriptor_t dy_like, const void *dy,
	const cudnnRNNDataDescriptor_t dc_like, const void *dc,
	const cudnnTensorDescriptor_t dhy_like, const void *dhy,
	const cudnnTensorDescriptor_t dcy_like, const void *dcy,
	const cudnnFilterDescriptor_t w_like, const void *w, const cudnnTensorDescriptor_t hx_like,
	const void *hx, const cudnnTensorDescriptor_t cx_like, const void *cx,
	const cudnnRNNDataDescriptor_t dx_like, void *dx, const cudnnTensorDescriptor_t dhx_like,
	void *dhx, const cudnnTensorDescriptor_t dcx_like, void *dcx,
	const cudnnRNNDataDescriptor_t dk_like, void *dkeys, void *workspace,
	size_t workspace_bytes, void *reserve, size_t reserve_bytes);
cudnnStatus_t cudnnRNNBackwardWeightsEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t net,
	const cudnnRNNDataDescriptor_t x_like, const void *x, const cudnnTensorDescriptor_t hx_like,
	const void *hx, const cudnnRNNDataDescriptor_t y_like, const void *y, void *workspace,
	size_t workspace_bytes, const cudnnFilterDescriptor_t dw_like, void *dw, void *reserve,
	size_t reserve_bytes);

#endif
