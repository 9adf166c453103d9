/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as libmicrohttpd reports them: admitted on the headers, the body received within limits, the
 * handler called, the answer queued. Callbacks of libmicrohttpd; `cls` is the hall.
 */
#ifndef SECG_API_STREAM_H
#define SECG_API_STREAM_H

#include "api/connection.h"

void *stream_begin(void *cls, const char *target, struct MHD_Connection *mhd);
enum MHD_Result stream_handle(void *cls, struct MHD_Connection *mhd, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *data_size, void **request_context);
void stream_end(void *cls, struct MHD_Connection *mhd, void **request_context,
		enum MHD_RequestTerminationCode code);

#endif
