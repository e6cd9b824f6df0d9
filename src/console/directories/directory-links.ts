// Who the entries of a directory are here, on their page, and what settles an entry that waits for a person: somebody who is here already is
// found and chosen, somebody new is made, or the entry is left out.
import type { Typed } from '../../first-party/app-form.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import type { Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { linkTo, pickerPanel } from '../people/people-picker.ts';
import { type LinksPage, listedAt, stateOf } from '../provisioning/links-page.ts';
import { linkWords } from './directory-status.ts';
import { calledIn, told } from './told-text.ts';

type Json = Readonly<Record<string, unknown>>;

const reasonCharsMax = 300;

export const directoryLinks: LinksPage = {
  path: '/directories',
  words: linkWords,
  settled: ['conflict', 'skipped', 'ignored'],
  caption: 'Entries of the directory',
  heads: ['Entry', 'State', 'Here'],
  nothing: ['No entries', 'This page lists people and groups that the directory has, and who they are here.'],
  cells,
  settling,
  above: finder,
  toApi: (typed: Typed) => {
    const id = typed.get('user_id') ?? typed.get('group_id');
    return typed.get('action') === 'adopt' && id !== null ? { local_id: id } : {};
  },
  told: {
    adopt: 'The next run brings what the directory says of it.',
    create: 'The next run adds it as new.',
    ignore: 'Left out.',
  },
};

const kindOf = ({ kind }: Json): 'user' | 'group' => (kind === 'group' ? 'group' : 'user');

async function cells(visit: Visit, link: Json): Promise<readonly (Html | string)[]> {
  const kind = kindOf(link);
  const reason = text(link['reason']);
  const said = reason === '' ? '' : told(reason, reasonCharsMax);
  return [
    html`<span><code>${told(link['dn'])}</code>${kind === 'group' && html` <span class="muted">group</span>`}</span>`,
    stateOf(linkWords, link, said),
    link['local_id'] === null ? '' : await linkTo(visit, kind, text(link['local_id'])),
  ];
}

function settling(visit: Visit, own: string, link: Json): Html {
  const thing = kindOf(link) === 'group' ? 'group' : 'person';
  const cursor = visit.query.get('cursor') ?? '';
  const at = listedAt(visit, own, { ...(cursor !== '' && { cursor }), entry: text(link['id']) });
  return html`<div class="bar"><a class="button small" href="${consolePath(visit.request.tenant, at)}">Find ${thing}</a><button class="small quiet" name="action" value="create">Add as new</button>${link['state'] !== 'ignored' && html`<button class="small quiet" name="action" value="ignore">Leave out</button>`}</div>`;
}

/** The search for who the entry is that the query names. */
async function finder(visit: Visit, own: string, open: readonly Json[]): Promise<Html | undefined> {
  const id = visit.query.get('entry');
  const link = open.find((one) => one['id'] === id);
  if (id === null || link === undefined) return undefined;
  const dn = text(link['dn']);
  const kept = ['state', 'cursor'].flatMap((name) => {
    const value = visit.query.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  return pickerPanel(visit, {
    path: own,
    kept: { ...Object.fromEntries(kept), entry: id },
    label: html`Who is ${told(dn)}?`,
    kinds: [kindOf(link)],
    search: calledIn(dn),
    choice: { path: listedAt(visit, `${own}/${encodeURIComponent(id)}/resolve`), label: 'It is this one', fields: { action: 'adopt' } },
  });
}
