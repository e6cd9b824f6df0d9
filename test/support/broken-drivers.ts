// Drivers of `gatehouse phone conformance` that are wrong: one says yes to everything and does nothing, one forgets when it dies.
import { createInterface } from 'node:readline';
import { createDevice, memoryStore } from '../../sdk/device.ts';
import { answerCommand, type Command } from '../../sdk/driver/commands.ts';
import { createSoftwareVault } from '../../sdk/node.ts';

const [kind] = process.argv.slice(2);
const forgetful = createDevice({
  baseUrl: process.env['GATEHOUSE_BASE_URL'] ?? '',
  store: memoryStore(),
  vault: createSoftwareVault(memoryStore()),
  pause: async () => undefined,
});

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command; // of the conformance runner
  const answer =
    kind === 'forgetful'
      ? await answerCommand(forgetful, { platform: 'other', name: 'Forgetful' }, command)
      : { id: command.id, ok: true, value: { status: 'enrolled', device_id: 'liar' } };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
