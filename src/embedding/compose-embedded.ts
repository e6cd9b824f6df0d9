// An embedded server with what is inside: for createGatehouse and startTestGatehouse.

import { ConfigError, type Flags, readConfig, type SettingName, settings as settingTable } from '../config.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { type Composed, composeGatehouse, type Environment } from '../server/compose.ts';
import type { EmbeddedGatehouse, GatehouseSettings } from './gatehouse.ts';

/** @throws ConfigError */
export async function composeEmbedded(
  settings: GatehouseSettings,
  environment: Pick<Environment, 'withSample'> = {},
): Promise<{ readonly embedded: EmbeddedGatehouse; readonly composed: Composed }> {
  const unknown = Object.keys(settings).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new ConfigError(`unknown setting ${unknown}. Expected one of: ${known.join(', ')}`);
  const flags = Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, textOf(value)]])),
  );
  const config = readConfig({ log_level: 'warn', ...flags } as Flags, {}, undefined);
  if (config.workers > 1)
    throw new ConfigError(`workers: expected 1 in another program, found ${config.workers}. Run gatehouse serve instead`);
  const composed = await composeGatehouse(config, { clock: systemClock, log: createLog(config.logLevel), ...environment });
  let url = config.publicUrl;
  let close = composed.close;
  let opening: Promise<unknown> | undefined;
  let closing: Promise<void> | undefined;
  const embedded: EmbeddedGatehouse = {
    get url() {
      return url;
    },
    listen: async () => {
      const begun = composed.listen();
      opening = begun.catch(() => undefined);
      const listening = await begun;
      url = listening.publicUrl;
      close = listening.close;
      return listening.publicUrl;
    },
    inject: (request) => composed.app.inject(request),
    close: () => {
      closing ??= Promise.resolve(opening).then(() => close());
      return closing;
    },
  };
  return { embedded, composed };
}

const known: readonly string[] = settingTable.map(({ name }) => name);

function textOf(value: NonNullable<GatehouseSettings[SettingName]>): string {
  if (typeof value === 'object') return value.join(',');
  return typeof value === 'boolean' ? String(Number(value)) : String(value);
}
