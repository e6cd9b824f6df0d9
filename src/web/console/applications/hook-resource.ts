// Hooks in the console: the list, the form, the call that tries one, and its secrets.

import { hookFields, hookPoints } from '../../../domain/extending/hook.ts';
import { defaultsOf } from '../../../domain/field.ts';
import { formOf } from '../../first-party/form-field.ts';
import { code, created, enabled, text } from '../cells.ts';
import type { ConsoleResource } from '../frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

const pointOf = ({ point }: Json): string => hookPoints[point as keyof typeof hookPoints].label; // the API's own words

/** As much as a page is told in a cookie. */
const shortened = (shown: string): string => (shown.length > 500 ? `${shown.slice(0, 500)}…` : shown);

/** What came of a trial, for people. */
const results: Readonly<Record<string, (json: Json) => string>> = {
  silent: () => 'It answered that it has nothing to say.',
  claims: ({ claims }) => `It answered with claims: ${shortened(JSON.stringify(claims))}`,
  denied: ({ reason }) => `It denies. Its reason: ${text(reason)}`,
  failed: ({ reason }) => `It failed: ${text(reason)}`,
};

export const hooks: ConsoleResource = {
  path: '/hooks',
  singular: 'Hook',
  plural: 'Hooks',
  about: 'A program of yours that is asked before tokens are issued or a sign-in ends: it adds claims, or denies.',
  searchHint: 'A part of the address',
  idField: 'id',
  titleOf: (json) => pointOf(json),
  columns: [
    ['Address', (json) => code(json['url'])],
    ['When it fails', (json) => text(json['on_failure'])],
    ['State', enabled],
  ],
  facts: [created],
  fields: formOf(hookFields),
  initial: defaultsOf(hookFields),
  actions: [
    {
      name: 'Try it',
      done: 'was tried',
      path: '/test',
      told: (json) => `${results[text(json['result'])]?.(json) ?? ''} (${text(json['milliseconds'])} ms)`,
    },
    {
      name: 'Make a new secret',
      ask: 'Make a new secret for',
      done: 'has a new secret',
      path: '/secret',
      confirm: 'Calls are signed with both secrets for 24 hours. The new one is shown for ten minutes.',
    },
  ],
  deletion: 'From now on nobody is asked: what it added is missing, and what it denied passes.',
  shownOnce: ['secret'],
};
