// TXT records of the DNS, by which the owners of domains say things. Asks the name servers of the configuration, else the system's;
// answers are as long as the DNS allows, 64 KiB, and waited for some seconds.
import { Resolver } from 'node:dns/promises';

export interface TextRecords {
  /** The texts at a name, each whole; none where there are none, undefined where nobody answered. */
  readonly find: (name: string) => Promise<readonly string[] | undefined>;
}

const none: readonly unknown[] = ['ENODATA', 'ENOTFOUND'];

/** `servers` are `address` or `address:port`; none: the system's. */
export function createTextRecords(servers: readonly string[]): TextRecords {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  return {
    find: async (name) => {
      try {
        return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
      } catch (error) {
        return none.includes((error as { readonly code?: unknown }).code) ? [] : undefined;
      }
    },
  };
}
