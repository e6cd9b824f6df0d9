// How members signed in for an organisation in the last 30 days, for whoever manages it. What they do for others, or for none, is not here.
import type { FastifyReply } from 'fastify';
import { accountListRows } from '../../contract/limits.ts';
import { type Html, html } from '../../platform/html.ts';
import { listSignInsForOrganization, type SignInForOrganization } from '../../storage/organizations/sign-ins.ts';
import { findTargetNames } from '../../storage/people/own-account.ts';
import { organizationCatalogs } from '../../texts/account/organization-texts.ts';
import { timeOf } from '../account-time.ts';
import { loadManaged, type Managing, pathOf, showManaged } from './managed-page.ts';

export async function signInsPage(visit: Managing, id: string): Promise<FastifyReply> {
  const { request, query, words } = visit;
  const { tenant } = request;
  const texts = organizationCatalogs[visit.language];
  const { organization, more } = await loadManaged(visit, id, async (queries, { id: organizationId }) => {
    const rows = await listSignInsForOrganization(queries, tenant.id, organizationId, {
      before: placeOf(query),
      limit: accountListRows + 1,
    });
    return {
      rows,
      names: await findTargetNames(
        queries,
        tenant.id,
        rows.map(({ application }) => application),
      ),
    };
  });
  const shown = more.rows.slice(0, accountListRows);
  const last = shown.at(-1);
  const next = new URLSearchParams({ at: String(last?.startedAtMs ?? ''), before: last?.id ?? '' });
  return showManaged(
    visit,
    organization,
    html`<p class="muted">${texts.signInsLead}</p>
${shown.length === 0 ? html`<p id="none">${texts.noSignIns}</p>` : html`<ol class="events card" id="sign-ins">${shown.map((row) => item(visit, row, more.names.get(row.application) ?? words.removedApp))}</ol>`}
${more.rows.length > accountListRows && html`<p><a class="button quiet" id="next" href="${visit.hrefOf(pathOf(organization, '/sign-ins'))}?${next.toString()}">${words.older}</a></p>`}`,
  );
}

function placeOf(query: URLSearchParams): { readonly startedAtMs: number; readonly id: string } | undefined {
  const [at, id] = [Number(query.get('at') ?? ''), query.get('before') ?? ''];
  return Number.isSafeInteger(at) && at > 0 && id !== '' && !id.includes('\0') ? { startedAtMs: at, id } : undefined;
}

function item(visit: Managing, row: SignInForOrganization, app: string): Html {
  const texts = organizationCatalogs[visit.language];
  const ends = { 'login.finished': texts.signedInTo, 'login.refused': texts.refusedAt } as const;
  const text = (row.type === 'login.finished' || row.type === 'login.refused' ? ends[row.type] : texts.brokenOffAt)(app);
  return html`<li><span><strong>${row.displayName ?? row.userName ?? '–'}</strong> · ${text}</span>
<span class="muted">${timeOf(visit, row.startedAtMs)}${row.ip !== null && html` · ${row.ip}`}</span></li>`;
}
