// The lines of a tenant cut into parts that each are a bundle: what says of which bundle and which part it is, rows with their table, and
// their number. administration/moving/import-in-parts.ts reads them.
import type { PartHead } from '../../administration/moving/import-in-parts.ts';

export interface TenantPart {
  readonly part: number;
  readonly rows: number;
  readonly lines: readonly string[];
}

/** What a part holds until it is sent; one row may be longer. */
const partCharsMax = 1024 * 1024;

/** The parts of the lines that writeTenant gives. */
export async function* cutIntoParts(bundle: string, lines: AsyncIterable<string>): AsyncGenerator<TenantPart> {
  let [part, line, chars] = [0, 0, 0];
  let table = '';
  let held: string[] = [];
  let rows = 0;
  const take = (): TenantPart => {
    const head: PartHead = { bundle, part };
    const taken = { part, rows, lines: [JSON.stringify(head), ...held, JSON.stringify({ rows })] };
    part += 1;
    [held, rows, chars] = [[table], 0, 0];
    return taken;
  };
  for await (const text of lines) {
    line += 1;
    if (line === 1) continue; // the head of the bundle goes before its parts
    if (!text.startsWith('[')) {
      if (!text.startsWith('{"table":')) continue; // the number of all rows
      table = text;
      held.push(text);
      continue;
    }
    if (rows > 0 && chars + text.length > partCharsMax) yield take();
    held.push(text);
    rows += 1;
    chars += text.length;
  }
  if (rows > 0) yield take();
}
