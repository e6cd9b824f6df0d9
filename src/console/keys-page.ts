// The console's page of signing keys.
import type { FastifyReply } from 'fastify';
import type { Json } from '../domain/field.ts';
import type { Typed } from '../first-party/app-form.ts';
import { type Notice, table } from '../first-party/app-page.ts';
import { type Html, html } from '../platform/html.ts';
import { askPage, isSure } from './confirm-page.ts';
import { badge, postButton, shownTime } from './console-page.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showPage, type Visit } from './console-visit.ts';

const stateKinds: Readonly<Record<string, 'good' | 'bad' | 'plain'>> = { active: 'good', retired: 'bad' };

export async function keysPage(visit: Visit, notice?: Notice): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', '/signing-keys');
  const rows = itemsOf(answer).map((key) => [
    html`<code>${String(key['kid'])}</code>`,
    String(key['use']),
    String(key['alg']),
    badge(String(key['state']), stateKinds[String(key['state'])] ?? 'plain'),
    shownTime(key['created_at']),
    key['rotatable_at'] === null ? '' : shownTime(key['rotatable_at']),
    waitingFor(key['stale'] as readonly Json[]), // the API's own answer
  ]);
  const rotate = (use: string, alg: string): Html =>
    postButton(frameOf(visit), {
      path: '/signing-keys',
      label: `Rotate ${use} ${alg}…`,
      style: 'quiet',
      id: `rotate-${use}-${alg}`,
      fields: { use, alg },
    });
  return showPage(
    visit,
    'Signing keys',
    html`<p class="muted">The next key is published before it signs, and a retired one stays published until nothing signed by it is alive.</p>
${table('Signing keys', ['Key', 'Use', 'Algorithm', 'State', 'Made', 'May sign from', 'Not yet read by'], rows)}
<div class="bar">${rotate('oidc', 'ES256')}${rotate('oidc', 'RS256')}${rotate('saml', 'RS256')}</div>`,
    notice,
  );
}

// Names of a few, then how many more.
function waitingFor(stale: readonly Json[]): string {
  const names = stale.slice(0, 5).map((provider) => String(provider['name']));
  return stale.length > names.length ? `${names.join(', ')} and ${stale.length - names.length} more` : names.join(', ');
}

export async function rotateKey(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const fields = { use: typed.get('use') ?? '', alg: typed.get('alg') ?? '' };
  const path = '/signing-keys';
  if (!isSure(typed)) {
    const title = `Rotate the ${fields.use} ${fields.alg} key?`;
    const page = { title, text: textOfRotation(fields.use), label: 'Rotate', path, back: path, fields };
    const youngUntil = fields.use === 'saml' ? await nextSamlKeyYoungUntil(visit) : undefined;
    if (youngUntil === undefined) return askPage(visit, page);
    const text = `The next certificate may sign from ${youngUntil}: before that, service providers that read metadata rarely may not know it and refuse sign-ins.`;
    return askPage(visit, { ...page, text, label: 'Rotate all the same', fields: { ...fields, force: 'yes' } });
  }
  const force = typed.get('force') === 'yes' ? { force: true } : {};
  const answer = await manage(visit, 'POST', path, { ...fields, ...force });
  return answer.status < 300
    ? finish(visit, path, `The next ${fields.use} ${fields.alg} key signs from now on.`)
    : keysPage(visit, { kind: 'bad', text: refusalText(answer) });
}

function textOfRotation(use: string): string {
  return use === 'saml'
    ? 'The next certificate signs from now on. Service providers that took the old one by hand, or have not read the new one, must be given it.'
    : 'The next key, published already, signs from now on. Applications that read the published keys notice nothing.';
}

// The day the next SAML certificate may sign, while that is to come.
async function nextSamlKeyYoungUntil(visit: Visit): Promise<string | undefined> {
  const keys = itemsOf(await manage(visit, 'GET', '/signing-keys'));
  const from = keys.find((key) => key['use'] === 'saml' && key['state'] === 'next')?.['rotatable_at'];
  const isYoung = typeof from === 'string' && Date.parse(from) > visit.services.clock.nowMs();
  return isYoung ? from.slice(0, 10) : undefined;
}
