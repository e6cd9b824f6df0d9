// A driver of `gatehouse phone conformance --driver` for the SDK's Node adapter: node sdk/driver/node.ts. An SDK of another language
// brings a program like this one.
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { createDevice } from '../device.ts';
import { createSoftwareVault, fileStore } from '../node.ts';
import { answerCommand, type Command } from './commands.ts';

const { GATEHOUSE_BASE_URL: baseUrl = '', GATEHOUSE_STATE: folder = '' } = process.env;
/** Nobody waits for a test's patience: pauses are a tenth of what they are on a phone. */
const haste = 10;
let offsetMs = 0;

const device = createDevice({
  baseUrl,
  store: fileStore(join(folder, 'phone.json')),
  vault: createSoftwareVault(fileStore(join(folder, 'keys.json'))),
  now: () => Date.now() + offsetMs,
  pause: (milliseconds) => pause(milliseconds / haste),
});

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command; // of the conformance runner
  if (command.do === 'clock') offsetMs = Number(command['offset_ms']);
  const answer =
    command.do === 'clock'
      ? { id: command.id, ok: true, value: null }
      : await answerCommand(device, { platform: 'other', name: 'Conformance' }, command);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
