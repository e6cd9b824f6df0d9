// Paths such as `/users/:id/devices`, matched by those who dispatch requests themselves because their endpoints load late.

/** The parameters when the segments have the pattern's form; a parameter is one segment, percent-decoded. */
export function matchPath(pattern: string, parts: readonly string[]): Readonly<Record<string, string>> | undefined {
  const names = pattern.split('/').slice(1);
  if (names.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index]!;
    if (!name.startsWith(':')) {
      if (name !== part) return undefined;
      continue;
    }
    const value = decode(part);
    if (value === undefined || value === '') return undefined;
    params[name.slice(1)] = value;
  }
  return params;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // Fastify refused bad percent-encoding before
  }
}
