// What an administrator does on the first days, each by the words on the pages. `prepare` makes what has to be there.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pngOf } from '../test/support/pictures.ts';
import type { Administrator } from './administrator.ts';
import type { Walker, Way } from './walker.ts';

export interface Task {
  readonly name: string;
  readonly clicksMax: number;
  /** Of somebody nobody knows yet, who starts at the link that `prepare` gives and needs scripts for a passkey. */
  readonly isGuest?: true;
  /** Gives a text that the walk needs, as a person would have it at hand. */
  readonly prepare?: (administrator: Administrator, way: Way) => string;
  readonly walk: (walker: Walker, given: string) => Promise<void>;
}

/** What a task leaves behind is told apart by the way it was walked. */
const markOf = (way: Way): string => way.replace(' ', '-');

const guestOf = (way: Way): string => `guest-${markOf(way)}@people.example`;

export const tasks: readonly Task[] = [
  {
    name: 'Create a web application, see its credentials',
    clicksMax: 5,
    walk: async ({ press, type, sees, page, way }) => {
      await press('Applications');
      await press('New application');
      await press('Web');
      await type('Name', `Made by ${way}`);
      await type('Redirect URIs', 'http://localhost:3000/callback');
      await press('Create');
      await sees('What the program needs');
      if (!/CLIENT_SECRET=\S{20}/.test(await page.innerText('main'))) throw new Error('expected the secret as .env');
    },
  },
  {
    name: 'Rotate a secret; a reload keeps it',
    clicksMax: 5,
    prepare: ({ call }, way) => {
      const name = `Rotated by ${way}`;
      call('POST', '/clients', { name, redirect_uris: ['https://app.example/callback'] });
      return name;
    },
    walk: async ({ press, sees, reload, page }, name) => {
      await press(/^Applications/);
      await press(name);
      await press('Credentials');
      await press(/Make a new secret/);
      await press(/Make a new secret/);
      await sees('has a new secret');
      const shown = await page.innerText('main');
      await reload();
      await sees(/client_secret/i);
      const again = await page.innerText('main');
      const secret = /client_secret\s+(\S+)/i.exec(shown)?.[1] ?? '';
      if (secret.length < 20 || !again.includes(secret)) throw new Error('expected the same secret after a reload');
    },
  },
  {
    name: 'Find "lovelace", suspend her',
    clicksMax: 4,
    prepare: ({ call }, way) => {
      const email = `ada-${markOf(way)}@people.example`;
      call('POST', '/users', { user_name: email, display_name: `Ada Lovelace (${way})`, emails: [{ value: email, primary: true }] });
      return `Ada Lovelace (${way})`;
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
    prepare: ({ call }, way) => {
      for (let number = 1; number <= 20; number += 1) {
        const email = `crew-${markOf(way)}-${number}@people.example`;
        call('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }] });
      }
      return `crew-${markOf(way)}`;
    },
    walk: async ({ press, search, sees }, text) => {
      await search(text);
      await press(/all .*found/i);
      await press(/^Suspend/);
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
    name: 'Import SAML metadata',
    clicksMax: 4,
    prepare: ({ folder }, way) => {
      const path = join(folder, `metadata-${markOf(way)}.xml`);
      writeFileSync(path, metadataOf(`https://${markOf(way)}.example/saml`));
      return path;
    },
    walk: async ({ press, attach, sees }, path) => {
      await press('SAML applications');
      await press('Import metadata');
      await attach('A file', path);
      await press('Import');
      await sees(/was imported/);
    },
  },
  {
    name: 'Connect a directory; it tests itself',
    clicksMax: 4,
    walk: async ({ press, sees }) => {
      await press('Directories');
      await press(/^Make/);
      await sees('it works.');
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
  {
    name: 'Change how long access tokens live',
    clicksMax: 3,
    walk: async ({ press, type, sees, way }) => {
      await press('Tokens');
      await type('Lifetime of access tokens', String(10 + way.length));
      await press(/^Save/);
      await sees(/saved/i);
    },
  },
  {
    name: 'Logo, preview, publish',
    clicksMax: 5,
    prepare: ({ folder }, way) => {
      const path = join(folder, `logo-${markOf(way)}.png`);
      writeFileSync(path, pngOf(120 + way.length, 40));
      return path;
    },
    walk: async ({ press, attach, sees, page }, path) => {
      await press('Branding');
      await attach('PNG, JPEG or WebP', path);
      await press('Upload');
      await sees('The draft has a new logo.');
      await page.frameLocator('iframe').first().getByRole('img').first().waitFor();
      await press('Publish');
      await sees(/It is published/);
    },
  },
  {
    name: 'Edit a mail, send a test',
    clicksMax: 5,
    walk: async ({ press, type, sees, way }) => {
      await press('Mail');
      await press('Invitation');
      await type('Subject', `Welcome to {{tenant}}, by ${way}`);
      await press('Save draft');
      await sees('The draft is saved.');
      await type('Send to', `mail-${markOf(way)}@people.example`);
      await press('Send test');
      await sees(/A test is on its way/);
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

const metadataOf = (entityId: string): string => `<?xml version="1.0"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">
  <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <AssertionConsumerService index="0" isDefault="true" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${entityId}/acs"/>
  </SPSSODescriptor>
</EntityDescriptor>
`;
