// People of an administrator's days: invited, made administrators, suspended alone and by twenty, and seen off.
import type { Task } from '../task.ts';
import { markOf, type Way } from '../walker.ts';

const guestOf = (way: Way): string => `guest-${markOf(way)}@people.example`;

export const peopleTasks: readonly Task[] = [
  {
    name: 'Find "lovelace", suspend her',
    clicksMax: 4,
    prepare: async ({ call }, way) => {
      const email = `ada-${markOf(way)}@people.example`;
      await call('POST', '/users', {
        user_name: email,
        display_name: `Ada Lovelace (${markOf(way)})`,
        emails: [{ value: email, primary: true }],
      });
      return `Ada Lovelace (${markOf(way)})`;
    },
    walk: async ({ press, search, sees }, name) => {
      await search('lovelace');
      await press(name);
      await press(/^Suspend/);
      await press('Suspend');
      await sees(`${name} is suspended`);
    },
  },
  {
    name: 'Suspend 20 people',
    clicksMax: 4,
    prepare: async ({ call }, way) => {
      for (let number = 1; number <= 20; number += 1) {
        const email = `crew-${markOf(way)}-${number}@people.example`;
        await call('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }] });
      }
      return `crew-${markOf(way)}`;
    },
    walk: async ({ press, search, sees }, text) => {
      await search(text);
      await press(/all .*found/i);
      await press(/^Suspend/);
      await sees(/^Suspend 20 people\?/);
      await press(/^Suspend/);
      await sees(/20 people/);
    },
  },
  {
    name: 'Invite somebody',
    clicksMax: 3,
    walk: async ({ press, type, sees, way }) => {
      await press(/^People/);
      await press('Invite people');
      await type('Email addresses', guestOf(way));
      await press('Invite by mail');
      await sees(`${guestOf(way)} was invited by mail`);
    },
  },
  {
    name: 'The invitee adds a passkey',
    clicksMax: 3,
    isGuest: true,
    prepare: ({ mailedLink }, way) => mailedLink(guestOf(way)),
    walk: async ({ press, sees }) => {
      await press('Continue');
      await press('Create passkey');
      await sees('Passkey added.');
    },
  },
  {
    name: 'Make an auditor',
    clicksMax: 4,
    walk: async ({ press, type, sees, way }) => {
      const email = `auditor-${markOf(way)}@people.example`;
      await press('Add administrator');
      await type('Email', email);
      await press('auditor');
      await press(/^(Invite by mail|Make a link)/);
      await sees(/mailed|link was made/);
    },
  },
];
