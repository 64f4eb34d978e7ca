// SPDX-License-Identifier: GPL-2.0-only
/* out_openmetrics: text that the command lays out itself (out_text()), and its last line. */
#include "out_priv.h"

#include <string.h>

static int end(struct out *o, bool complete)
{
	static const char eof[] = "# EOF\n";

	/* Without it a reader knows that the exposition is cut off. */
	return complete ? out_put(o, eof, strlen(eof)) : 0;
}

const struct out_ops out_openmetrics_ops = {.end = end};
