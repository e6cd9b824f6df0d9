// Finds the programs that judge our output (xmlsec1, xmllint, ...). Tests that need one are defined only where it is
// installed; a run that lists it in GATEHOUSE_TEST_REQUIRE fails when it is missing.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of an installed program, or undefined; throws when GATEHOUSE_TEST_REQUIRE names it and it is missing. */
export function findJudge(name: string): string | undefined {
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
  const required = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(/[\s,]+/);
  if (found === undefined && required.includes(name)) throw new Error(`GATEHOUSE_TEST_REQUIRE names ${name}: not found`);
  return found;
}
