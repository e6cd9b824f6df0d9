// The request target as the phone signed it. A target that two parsers could read differently is refused, never normalised.

const ambiguous = /\/\/|\/\.{1,2}(?:\/|$)|%2e|%2f|%5c|[\\#]|[^\x21-\x7e]/i;

/** Whether the target has one reading only (design 05: no `//`, dot segments, encoded separators, `#` or non-ASCII). */
export function isPlainTarget(target: string): boolean {
  const path = target.split('?', 1)[0] ?? '';
  return target.startsWith('/') && !ambiguous.test(path) && !/[\\#]|[^\x21-\x7e]|%2e|%2f|%5c/i.test(target.slice(path.length));
}

/** Path and query as on the request line; the query is what follows the first `?`. */
export function splitTarget(target: string): { readonly rawPath: string; readonly rawQuery: string } {
  const mark = target.indexOf('?');
  return mark === -1 ? { rawPath: target, rawQuery: '' } : { rawPath: target.slice(0, mark), rawQuery: target.slice(mark + 1) };
}
