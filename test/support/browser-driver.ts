// A driver of `gatehouse phone conformance --driver` for the SDK's browser adapter: its phone lives in the browser that
// GATEHOUSE_TEST_BROWSER names (browser-host.ts), which outlives the program as a phone's browser would.
import { createInterface } from 'node:readline';
import { type Device, DeviceError, NoAnswerError } from '../../sdk/device.ts';
import { answerCommand, type Command } from '../../sdk/driver/commands.ts';
import type { Ask, Called } from './browser-host.ts';

const { GATEHOUSE_BASE_URL: baseUrl = '', GATEHOUSE_STATE: folder = '', GATEHOUSE_TEST_BROWSER: host = '' } = process.env;

async function ask(what: Ask): Promise<Called> {
  const response = await fetch(host, { method: 'POST', body: JSON.stringify(what) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Called; // of our own host
}

/** The SDK's device in the page, as if it were here. */
const device = new Proxy({} as Device, {
  get:
    (_none, method: string) =>
    async (...args: readonly unknown[]): Promise<unknown> => {
      const { value, thrown } = await ask({ do: 'call', folder, method, args });
      if (thrown?.name === 'DeviceError') throw new DeviceError(thrown.status, thrown.body);
      if (thrown?.name === 'NoAnswerError') throw new NoAnswerError(thrown.message);
      if (thrown !== undefined) throw new Error(thrown.message);
      return value;
    },
});

await ask({ do: 'open', folder, baseUrl });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command; // of the conformance runner
  const { id } = command;
  if (command.do === 'clock') await ask({ do: 'clock', folder, offsetMs: Number(command['offset_ms']) });
  const answer =
    command.do === 'clock' ? { id, ok: true, value: null } : await answerCommand(device, { platform: 'web', name: 'Conformance' }, command);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0); // connections to the host are kept
