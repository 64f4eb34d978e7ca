// SPDX-License-Identifier: GPL-2.0-only
/*
 * out_tsv: a heading line of keys, then a line a row, with a tab between fields.
 *
 * Every line has the same number of fields: no text holds a tab or a newline once it is escaped
 * (out_escape.h). Null is \N, as databases import it: an empty field is an empty string, and the
 * escaping never makes that pair. There is no place for the summary.
 */
#include "out_priv.h"

#include <string.h>

static int tsv_begin(struct out *o)
{
	int err = 0;

	for (size_t i = 0; !err && !o->opts.no_header && i < o->nr_shown; i++) {
		const char *key = o->cols[o->shown[i]].key;

		err = out_put(o, key, strlen(key));
		err = err ?: out_put(o, i + 1 < o->nr_shown ? "\t" : "\n", 1);
	}
	return err;
}

static int tsv_row(struct out *o, const struct pgs_val *vals)
{
	int err = 0;

	for (size_t i = 0; !err && i < o->nr_shown; i++) {
		size_t index = o->shown[i];

		err = out_put_text(o, o->cols[index].type, &vals[index], "\\N");
		err = err ?: out_put(o, i + 1 < o->nr_shown ? "\t" : "\n", 1);
	}
	return err;
}

const struct out_ops out_tsv_ops = {
	.begin = tsv_begin,
	.row = tsv_row,
};
