// SPDX-License-Identifier: GPL-2.0-only
/* Control: must fail, because what it calls compiles but is exported by nobody. */
void pgscan_no_such_export(void);
void probe(void);

void probe(void)
{
	pgscan_no_such_export();
}
