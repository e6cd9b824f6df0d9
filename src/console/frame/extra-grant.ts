// A grant that a page offers and the tenant does not have yet: said there, with a button for whoever may change it.
import type { FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import type { extraGrantNames } from '../../domain/oidc/grant-types.ts';
import { type Html, html } from '../../platform/html.ts';
import { postButton } from '../console-page.ts';
import { finish, frameOf, manage, refusalText, showPage, type Visit } from '../console-visit.ts';

type ExtraGrant = (typeof extraGrantNames)[number];

/** Of the setting. */
const power = 'sign-in:write';

/** Lets the tenant have it by a post of `set` to that page. */
export const letButton = (visit: Visit, grant: ExtraGrant, { path, label, id }: Record<'path' | 'label' | 'id', string>): Html =>
  visit.allowed.has(power)
    ? postButton(frameOf(visit), { path, label, id: `set-${id}`, fields: { set: grant } })
    : html`<p class="hint">You need <code>${power}</code> for this.</p>`;

/** Lets the tenant have the grant, and goes to the page that says so. */
export async function letGrant(
  visit: Visit,
  grant: ExtraGrant,
  to: { readonly path: string; readonly done: string },
): Promise<FastifyReply> {
  if (!visit.allowed.has(power)) throw lacking(visit);
  const answer = await manage(visit, 'POST', '/settings/lists', { add: { extra_grants: [grant] } });
  if (answer.status !== 200) return showPage(visit, 'More ways to get tokens', html``, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, to.path, to.done);
}

const lacking = ({ allowed }: Visit): Error =>
  reject(
    'management.forbidden',
    { reason: 'missing_capability', expected: power, received: [...allowed].join(' ') },
    { text: 'Only administrators who may change how people sign in let programs get tokens in more ways.' },
  );
