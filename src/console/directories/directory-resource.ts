// Directories of LDAP in the console: the list, the form, which is the kind's own, and the tabs, which are in the other files here.
import { directoryNeeds } from '../../domain/extending/ldap-directory.ts';
import { emailTarget, type LdapKind, ldapPresets } from '../../domain/extending/ldap-presets.ts';
import { kinds } from '../../domain/kinds.ts';
import { code, created, worded } from '../cells.ts';
import { badge } from '../console-page.ts';
import type { Allowed } from '../frame/allowed.ts';
import { pagesOfKind } from '../frame/kind-pages.ts';
import { calledInWords } from '../frame/plain-words.ts';
import type { ConsoleResource } from '../frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

export const directories: ConsoleResource = {
  ...pagesOfKind(kinds.directory),
  columns: [
    ['Kind', (json) => worded(json['kind'], ldapPresets)],
    ['Address', (json) => code(json['url'])],
    ['State', (json) => (json['enabled'] === true ? badge('enabled', 'good') : badge('paused', 'plain'))],
  ],
  tabs: [
    ['/status', 'Where it stands'],
    ['/links', 'People and groups'],
    ['/plan', 'Plan'],
    ['/test', 'Test'],
    ['/rules', 'Attributes'],
  ],
  facts: [created],
};

/** The kind of a directory, as the API says it. */
export const presetOf = ({ kind }: Json) => ldapPresets[kind as LdapKind];

/** What people call what a rule writes. */
export const attributeName = (to: string): string => (to === emailTarget ? 'Email' : calledInWords(to));

/** Whether the person may see and change whom a directory brings. */
export const mayDoAll = ({ allowed }: Allowed, { groups }: Json): boolean =>
  directoryNeeds({ groups: groups as 'none' | 'listed' | 'all' }).every((capability) => allowed.has(capability)); // the API's shape
