# SPDX-License-Identifier: Apache-2.0
"""A short round of `make soak`, so that it works when somebody needs the long one."""

import soak


def test_a_short_soak_holds(fresh_lab, capsys):
    """acl/27, acl/28: sessions by the hundred thousand under churn; every frame accounted for."""
    with capsys.disabled():
        result = soak.soak(fresh_lab, 15, say=lambda line: print("\n" + line, end=""))
    assert soak.is_sound(result), result
