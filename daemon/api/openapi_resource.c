/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/openapi.json: the description of the API, as the build made it from docs/openapi.yaml. */
#include "api/exchange.h"
#include "openapi.h"

bool openapi_resource_get(struct exchange *exchange)
{
	reply_fixed(&exchange->reply, 200, "application/json", openapi_json,
		    sizeof(openapi_json) - 1);
	return true;
}
