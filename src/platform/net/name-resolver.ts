// Names of strangers' servers to addresses. The DNS is asked by c-ares, which holds no thread and lets a question be withdrawn, so that a
// name server that never answers costs only who asked for its name: so many look-ups at once for each share, answers kept for their
// time. As the system does, names of /etc/hosts come first, localhost is this machine, and the search list of /etc/resolv.conf is tried.
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { lookUpsAtOnceMax } from '../../contract/limits.ts';
import { createTurns } from '../turns/turns.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface LookUpFor {
  /** Whose look-ups it counts among. */
  readonly share: string;
  /** Withdraws the question. */
  readonly signal: AbortSignal;
}

/** All addresses of a host name, IPv4 first; none when it has none, or nobody said. */
export type ResolveName = (host: string, by: LookUpFor) => Promise<readonly ResolvedAddress[]>;

export interface NameResolverOptions {
  /** `address` or `address:port`; none: the system's. */
  readonly servers?: readonly string[];
  /** Files of the system, elsewhere in tests. */
  readonly hostsFile?: string;
  readonly resolvFile?: string;
  /** Monotonic. */
  readonly nowMs?: () => number;
}

/** How long an answer is kept, whatever its time to live. */
const answerKeptSecondsMin = 5;
const answerKeptSecondsMax = 300;
const answersMax = 10_000;
/** Of one question; c-ares asks again, and the next server. */
const attemptMs = 2000;
const attempts = 3;
const filesKeptMs = 5000;

interface Answer {
  readonly addresses: readonly ResolvedAddress[];
  readonly keptSeconds: number;
}

interface SystemFiles {
  readonly hosts: ReadonlyMap<string, readonly ResolvedAddress[]>;
  readonly search: readonly string[];
}

export function createNameResolver({ servers = [], nowMs = () => performance.now(), ...files }: NameResolverOptions = {}): ResolveName {
  const turns = createTurns(lookUpsAtOnceMax);
  const kept = new Map<string, { readonly addresses: readonly ResolvedAddress[]; readonly untilMs: number }>();
  const asked = new Map<string, Shared>();
  const readSystem = remembering(() => readSystemFiles(files), nowMs);
  const keep = (host: string, { addresses, keptSeconds }: Answer): void => {
    kept.delete(host);
    if (kept.size >= answersMax) kept.delete(kept.keys().next().value!);
    kept.set(host, { addresses, untilMs: nowMs() + keptSeconds * 1000 });
  };
  const ask = async (host: string, search: readonly string[], { share, signal }: LookUpFor): Promise<readonly ResolvedAddress[]> => {
    const giveBack = await turns.take(share, signal);
    if (giveBack === undefined) return [];
    try {
      const answer = await askServers(servers, namesToTry(host, search), signal);
      if (!signal.aborted) keep(host, answer);
      return answer.addresses;
    } finally {
      giveBack();
    }
  };
  return async (given, by) => {
    const host = given.toLowerCase().replace(/\.$/, '');
    const { hosts, search } = await readSystem();
    const here = hosts.get(host) ?? (host === 'localhost' || host.endsWith('.localhost') ? thisMachine : undefined);
    if (here !== undefined) return here;
    const before = kept.get(host);
    if (before !== undefined && before.untilMs > nowMs()) return before.addresses;
    const name = `${by.share} ${host}`;
    const sharing = asked.get(name) ?? openShared((signal) => ask(host, search, { share: by.share, signal }));
    asked.set(name, sharing);
    return sharing.wait(by.signal, () => asked.get(name) === sharing && asked.delete(name));
  };
}

interface Shared {
  readonly wait: (signal: AbortSignal, onEnd: () => void) => Promise<readonly ResolvedAddress[]>;
}

/** One question that several wait for; it is withdrawn when the last of them has given up. */
function openShared(ask: (signal: AbortSignal) => Promise<readonly ResolvedAddress[]>): Shared {
  const withdrawn = new AbortController();
  const answer = ask(withdrawn.signal).catch(() => []);
  let waiting = 0;
  return {
    wait: async (signal, onEnd) => {
      waiting += 1;
      const { promise: gaveUp, resolve } = Promise.withResolvers<readonly ResolvedAddress[]>();
      const giveUp = (): void => resolve([]);
      if (signal.aborted) giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
      const addresses = await Promise.race([answer, gaveUp]);
      signal.removeEventListener('abort', giveUp);
      waiting -= 1;
      if (waiting === 0) {
        onEnd();
        withdrawn.abort();
      }
      return addresses;
    },
  };
}

/** The first of the names that has addresses. */
async function askServers(servers: readonly string[], names: readonly string[], signal: AbortSignal): Promise<Answer> {
  const resolver = new Resolver({ timeout: attemptMs, tries: attempts });
  if (servers.length > 0) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (const name of names) {
      if (signal.aborted) break;
      const [four, six] = await Promise.allSettled([resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })]);
      const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      if (found.length > 0)
        return {
          addresses: found.map(({ address }) => ({ address, family: isIP(address) })),
          keptSeconds: Math.min(answerKeptSecondsMax, Math.max(answerKeptSecondsMin, Math.min(...found.map(({ ttl }) => ttl)))),
        };
    }
    return { addresses: [], keptSeconds: answerKeptSecondsMin };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** A name with a dot is meant as it is; a short one is one of the search list's domains first. */
function namesToTry(host: string, search: readonly string[]): readonly string[] {
  const within = search.map((domain) => `${host}.${domain}`);
  return host.includes('.') ? [host, ...within] : [...within, host];
}

/** RFC 6761 6.3, where /etc/hosts does not say. */
const thisMachine: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

async function readSystemFiles({
  hostsFile = '/etc/hosts',
  resolvFile = '/etc/resolv.conf',
}: Pick<NameResolverOptions, 'hostsFile' | 'resolvFile'>): Promise<SystemFiles> {
  const [hosts, resolv] = await Promise.all([hostsFile, resolvFile].map((file) => readFile(file, 'utf8').catch(() => '')));
  return { hosts: parseHosts(hosts!), search: parseSearch(resolv!) };
}

const fieldsOf = (text: string): readonly (readonly string[])[] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );

function parseHosts(text: string): SystemFiles['hosts'] {
  const hosts = new Map<string, readonly ResolvedAddress[]>();
  for (const [address = '', ...names] of fieldsOf(text))
    for (const name of isIP(address) === 0 ? [] : names.map((one) => one.toLowerCase()))
      if (hosts.get(name)?.some((known) => known.address === address) !== true)
        hosts.set(name, [...(hosts.get(name) ?? []), { address, family: isIP(address) }]);
  return hosts;
}

/** The last of the lines `search` and `domain` counts (resolv.conf(5)). */
const parseSearch = (text: string): readonly string[] =>
  fieldsOf(text)
    .filter(([word]) => word === 'search' || word === 'domain')
    .at(-1)
    ?.slice(1)
    .filter((domain) => domain !== '.') ?? [];

function remembering<T>(read: () => Promise<T>, nowMs: () => number): () => Promise<T> {
  let known: { readonly value: Promise<T>; readonly untilMs: number } | undefined;
  return () => {
    if (known === undefined || known.untilMs <= nowMs()) known = { value: read(), untilMs: nowMs() + filesKeptMs };
    return known.value;
  };
}
