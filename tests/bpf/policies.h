/* SPDX-License-Identifier: Apache-2.0 */
/* Policy documents with the one port p1, for tests of rules. */
#ifndef SECG_TESTS_POLICIES_H
#define SECG_TESTS_POLICIES_H

#define PORT(fields)     " 'ports': {'p1': {'interface': 'p1', 'infrastructure': []" fields "}}}"
#define ONE_ACL(rules)   "{'acls': {'a': {'rules': [" rules "]}},"
#define BOTH_WAYS(rules) ONE_ACL(rules) PORT(", 'from': ['a'], 'to': ['a']")

#endif
