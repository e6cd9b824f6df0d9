// Why somebody could not sign in: people who try, and an administrator who is asked about it and finds the reason in words.
import { startSmtpServer } from '../../test/support/smtp-server.ts';
import type { Administrator, Json } from '../administrator.ts';
import { askForCode, makeApplication, makePerson, typeCode } from '../somebody-else.ts';
import type { Task } from '../task.ts';
import { markOf, type Walker, type Way } from '../walker.ts';

const wrongCode = '000000';
const mailServer = '/mail-server';
const pauseMs = 100;
const mailWaitMs = 15_000;

/** Somebody tries at a browser of their own, and leaves. */
async function tries(administrator: Administrator, way: Way, attempt: (guest: Walker) => Promise<void>): Promise<void> {
  const guest = await administrator.openGuest(way);
  try {
    await attempt(guest);
  } finally {
    await guest.close();
  }
}

/** From the overview to what is said of the last try of that name. */
async function findSignIn({ press, type, enter }: Walker, name: string): Promise<void> {
  await press('Find a sign-in');
  await type('Name or email', name);
  await enter();
}

/** Answers every mail as one does whose mailbox is gone. */
async function startBouncing(administrator: Administrator): Promise<void> {
  const smtp = await startSmtpServer();
  administrator.atEnd(smtp.close);
  smtp.refuseNext(Number.POSITIVE_INFINITY, '550 no such mailbox here');
  const own = { host: '127.0.0.1', port: Number(new URL(smtp.url).port), security: 'none', from: 'login@people.example' };
  await administrator.call('PUT', mailServer, own);
}

/** Until the mail server has said no to the code of that person. */
async function untilBounced({ call }: Administrator, user: string): Promise<void> {
  const untilMs = performance.now() + mailWaitMs;
  for (;;) {
    const { items } = await call('GET', `/sign-ins?user=${user}`);
    if ((items as readonly Json[]).some(({ check }) => check === 'mail_not_delivered')) return;
    if (performance.now() > untilMs) throw new Error('expected the mail server to refuse the code, found no word of it');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

export const signInTasks: readonly Task[] = [
  {
    name: 'Why could Grace not sign in: suspended',
    clicksMax: 3,
    prepare: async (administrator, way) => {
      const name = `Grace Holloway ${markOf(way)}`;
      const { id, email } = await makePerson(administrator, name);
      await administrator.call('POST', `/users/${id}/suspend`);
      const at = await makeApplication(administrator, `Ledger ${markOf(way)}`);
      await tries(administrator, way, async (guest) => {
        await askForCode(guest, at, email);
        await typeCode(guest, wrongCode);
        await guest.sees(/code is wrong/);
      });
      return name;
    },
    walk: async (walker, name) => {
      await findSignIn(walker, name);
      await walker.sees(/This person is suspended/);
      await walker.sees(/Activate the person/);
    },
  },
  {
    name: 'Why could Grace not sign in: nobody has that address',
    clicksMax: 3,
    prepare: async (administrator, way) => {
      const typed = `grase.${markOf(way)}@people.example`;
      const at = await makeApplication(administrator, `Wiki ${markOf(way)}`);
      await tries(administrator, way, async (guest) => {
        await askForCode(guest, at, typed);
        await typeCode(guest, wrongCode);
        await guest.sees(/code is wrong/);
      });
      return typed;
    },
    walk: async (walker, typed) => {
      await findSignIn(walker, typed);
      await walker.sees(`“${typed}”`);
      await walker.sees(/No person has this name or email/);
      await walker.sees(/typing error/);
    },
  },
  {
    name: 'Why could Grace not sign in: not assigned',
    clicksMax: 3,
    prepare: async (administrator, way) => {
      const name = `Grace Ito ${markOf(way)}`;
      const { email } = await makePerson(administrator, name);
      const at = await makeApplication(administrator, `Payroll ${markOf(way)}`, { access_policy: 'assigned' });
      await tries(administrator, way, async (guest) => {
        await askForCode(guest, at, email);
        await typeCode(guest, await administrator.mailedCode(email));
        await guest.sees('The application');
      });
      return name;
    },
    walk: async (walker, name) => {
      await findSignIn(walker, name);
      await walker.sees(/lets in only people who are assigned to it, and this person isn’t/);
      await walker.sees(/Assign the person, or a group of theirs/);
    },
  },
  {
    name: 'Why could Grace not sign in: the mail bounced',
    clicksMax: 3,
    prepare: async (administrator, way) => {
      const name = `Grace Marsh ${markOf(way)}`;
      const { id, email } = await makePerson(administrator, name);
      const at = await makeApplication(administrator, `Depot ${markOf(way)}`);
      await startBouncing(administrator);
      try {
        await tries(administrator, way, async (guest) => {
          await askForCode(guest, at, email);
          await guest.sees(/a code is on its way/);
        });
        await untilBounced(administrator, id);
      } catch (error) {
        await administrator.call('DELETE', mailServer);
        throw error;
      }
      return name;
    },
    walk: async (walker, name, { call }) => {
      try {
        await findSignIn(walker, name);
        await walker.sees(/The mail was not delivered: the mail server refused it/);
        await walker.sees(/Check the address of the person/);
      } finally {
        await call('DELETE', mailServer);
      }
    },
  },
  {
    name: 'Explain a request id',
    clicksMax: 2,
    prepare: ({ refusedRequest }) => refusedRequest(),
    walk: async ({ press, type, enter, sees }, id) => {
      await press('Explain');
      await type('X-Request-Id of the answer', id);
      await enter();
      await sees('Check that failed');
    },
  },
];
