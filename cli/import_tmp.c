/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"
void import_ovn(struct import *i)
{
	(void)i;
}
void import_vpp(struct import *i)
{
	(void)i;
}
