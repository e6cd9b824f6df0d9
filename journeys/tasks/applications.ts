// Applications of an administrator's first days: made, given another secret, imported by their metadata.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '../task.ts';
import { markOf } from '../walker.ts';

export const applicationTasks: readonly Task[] = [
  {
    name: 'Create a web application, see its credentials',
    clicksMax: 5,
    walk: async ({ press, type, sees, page, way }) => {
      await press('Applications');
      await press('New application');
      await press('Web');
      await type('Name', `Made by ${markOf(way)}`);
      await type('Redirect URIs', 'http://localhost:3000/callback');
      await press('Create');
      await sees('What the program needs');
      if (!/CLIENT_SECRET=\S{20}/.test(await page.innerText('main'))) throw new Error('expected the secret as .env');
    },
  },
  {
    name: 'Rotate a secret; a reload keeps it',
    clicksMax: 5,
    prepare: async ({ call }, way) => {
      const name = `Rotated by ${markOf(way)}`;
      await call('POST', '/clients', { name, redirect_uris: ['https://app.example/callback'] });
      return name;
    },
    walk: async ({ press, sees, reload, page }, name) => {
      await press(/^Applications/);
      await press(name);
      await press('Credentials');
      await press(/Make a new secret/);
      await sees(/stops working|old secret/i);
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
      await sees('Nothing is saved yet. This is what the application says of itself.');
      await press('Add it');
      await sees(/was imported/);
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
