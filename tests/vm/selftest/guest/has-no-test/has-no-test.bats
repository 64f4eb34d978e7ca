# SPDX-License-Identifier: GPL-2.0-only
# No test in here, on purpose
