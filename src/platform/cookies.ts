// Cookies as a browser sends them: read with care, since anybody on a neighbouring host may plant one.

/** The value of a cookie sent exactly once; undefined for none, and for two of one name, where one was planted. */
export function soleCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}
