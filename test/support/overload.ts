// Clients on a machine that has other work to do: a node that sheds load says so before it does anything, and is asked again.
import { setTimeout as wait } from 'node:timers/promises';
import { assertRefusal } from './refusal.ts';

const againMs = 200;

/** Asks until the answer is another than 503 in the OAuth envelope; `onShed` hears of each. What was begun and not answered shows in the answers that follow. */
export async function askUntilServed(send: () => Promise<Response>, onShed: () => void = () => undefined): Promise<Response> {
  for (;;) {
    const response = await send();
    if (response.status !== 503) return response;
    await assertRefusal(response, 'oauth.unavailable');
    onShed();
    await wait(againMs);
  }
}
