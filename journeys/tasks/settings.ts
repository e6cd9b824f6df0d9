// What an administrator sets once: a directory, how long tokens live, the logo, the words of a mail.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pngOf } from '../../test/support/pictures.ts';
import type { Task } from '../task.ts';
import { markOf, ways } from '../walker.ts';

export const settingTasks: readonly Task[] = [
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
    name: 'Change how long access tokens live',
    clicksMax: 3,
    walk: async ({ press, type, sees, way }) => {
      await press('Tokens');
      await type('Lifetime of access tokens', String(10 + ways.indexOf(way)));
      await press(/^Save/);
      await sees(/saved/i);
    },
  },
  {
    name: 'Logo, preview, publish',
    clicksMax: 5,
    prepare: ({ folder }, way) => {
      const path = join(folder, `logo-${markOf(way)}.png`);
      writeFileSync(path, pngOf(120 + ways.indexOf(way), 40));
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
      await type('Subject', `Welcome to {{tenant}}, by ${markOf(way)}`);
      await press('Save draft');
      await sees('The draft is saved.');
      await type('Send to', `mail-${markOf(way)}@people.example`);
      await press('Send test');
      await sees(/A test is on its way/);
    },
  },
];
