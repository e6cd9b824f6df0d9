// Hooks in the console: the list, the form, the call that tries one, and its secrets.
import { hookPoints } from '../../domain/extending/hook.ts';
import { kinds } from '../../domain/kinds.ts';
import { code, created, enabled, text } from '../cells.ts';
import { pagesOfKind, secretAction } from '../frame/kind-pages.ts';
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
  ...pagesOfKind(kinds.hook),
  titleOf: (json) => pointOf(json),
  columns: [
    ['Address', (json) => code(json['url'])],
    ['When it fails', (json) => text(json['on_failure'])],
    ['State', enabled],
  ],
  facts: [created],
  actions: [
    {
      name: 'Try it',
      done: 'was tried',
      path: '/test',
      told: (json) => `${results[text(json['result'])]?.(json) ?? ''} (${text(json['milliseconds'])} ms)`,
    },
    secretAction(kinds.hook),
  ],
};
