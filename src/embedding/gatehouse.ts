// Gatehouse inside another Node program: what the package exports. It takes the settings of gatehouse.yaml, reads neither the environment
// nor a file, installs no signal handler, never ends the process, and several live in one process.
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import type { SettingName } from '../config.ts';
import { composeEmbedded } from './compose-embedded.ts';

/** The keys of gatehouse.yaml. */
export type GatehouseSettings = Readonly<Partial<Record<SettingName, string | number | boolean | readonly string[]>>>;

export interface EmbeddedGatehouse {
  /** Where it answers; undefined before `listen` when no `public_url` was set. */
  readonly url: string | undefined;
  /** Listens where `listen` says, 127.0.0.1:0 being any free port, and gives the URL. */
  readonly listen: () => Promise<string>;
  /** A request without a network, as Fastify's inject takes and answers it. */
  readonly inject: (request: InjectOptions) => Promise<LightMyRequestResponse>;
  /** Finishes open requests and closes the database. Called again, or by several at once, it waits for the same end. */
  readonly close: () => Promise<void>;
}

/** Makes a server from settings. @throws ConfigError that says what was expected and what was found */
export async function createGatehouse(settings: GatehouseSettings = {}): Promise<EmbeddedGatehouse> {
  return (await composeEmbedded(settings)).embedded;
}
