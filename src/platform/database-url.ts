// The URL of a PostgreSQL with one host or several (postgres://user@one:5432,two:5432/name, as libpq takes it), one of which may be
// written to. Called by the configuration, which refuses a wrong one, and by the pools.

const severalHosts = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/;
const sessionAttributes = 'target_session_attrs';

/** One URL a host of `postgres://user@one:5432,two:5432/name`. @throws Error that says what was expected and found */
export function hostUrlsOf(url: string): readonly string[] {
  const match = severalHosts.exec(url);
  if (match === null && url.startsWith('socket:')) return [url];
  if (match === null) throw new Error('expected a URL such as postgres://user:password@host:5432/name');
  const [, start, hosts, rest] = match;
  return hosts!.split(',').map((host) => {
    const parsed = URL.parse(`${start}${host}${rest}`);
    if (parsed === null) throw new Error(`expected host:port, or several with commas between, found ${hosts}`);
    const wanted = parsed.searchParams.get(sessionAttributes);
    if (wanted !== null && wanted !== 'read-write')
      throw new Error(`expected ${sessionAttributes}=read-write or none, found ${wanted}: every node writes`);
    if (wanted !== null) parsed.searchParams.delete(sessionAttributes);
    return parsed.href;
  });
}
