// {public URL}/dev/mail: the mails of the outbox as a page, for whoever tries things out on this machine. For everybody else, and
// below other tenants, there is no such path.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../contract/limits.ts';
import { rootTenantSlug } from '../domain/tenant/tenant.ts';
import { type DeveloperParts, isDeveloper } from '../http/development.ts';
import type { Parts } from '../http/services.ts';
import { registerSurface, type SurfaceDeps } from '../http/surface.ts';
import { sharedError } from '../http/surface-errors.ts';
import { icons } from '../pages/icons.ts';
import { type Page, renderPage } from '../pages/page.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import { type Html, html } from '../platform/html.ts';
import { listLatestOutboxMessages, type OutboxMessage } from '../storage/records/outbox-messages.ts';
import { openQueuedMail } from '../tokens/queued-mail.ts';

const messagesShown = 30;

export function registerDevMail(app: FastifyInstance, services: SurfaceDeps & DeveloperParts & Parts<'database' | 'encryption'>): void {
  registerSurface(
    app,
    services,
    {
      name: 'dev-mail',
      envelope: 'management',
      prefix: '/dev',
      bodies: {},
      bodyBytesMax,
      ofTenant: true,
      isPages: true,
      present: presentErrorPage,
      beforeRoute: (request) => {
        if (request.tenant.slug !== rootTenantSlug || !isDeveloper(services, request))
          throw sharedError('management', 'not_found', 'no_such_path');
      },
    },
    (route) => {
      route('/mail', {
        GET: async (_request, reply) => {
          const messages = await services.database.systemRead((queries) => listLatestOutboxMessages(queries, messagesShown));
          const page = mailPage(messages.map((row) => ({ ...row, ...openQueuedMail(services.encryption, row) })));
          return reply.headers(page.headers).send(page.markup);
        },
      });
    },
  );
}

function mailPage(messages: readonly OutboxMessage[]): Page {
  return renderPage({
    language: 'en',
    tenant: undefined,
    title: 'Mail',
    body: html`<h1>Mail</h1>
<p class="lead">Mails of this server stay here while it has no SMTP. Newest first; they are kept for a day.</p>
${messages.length === 0 && html`<div class="center"><div class="badge">${icons.mail}</div><p>No mail yet. Choose a code by email at a sign-in, then load this page again.</p></div>`}
${messages.map(messageBox)}
<p><a class="button plain" id="reload" href="/dev/mail">Load again</a></p>`,
  });
}

const messageBox = ({ id, recipient, subject, text, created_at: at }: OutboxMessage): Html => html`<article id="${id}">
<dl class="facts"><div><dt>To</dt><dd>${recipient}</dd></div><div><dt>Subject</dt><dd>${subject}</dd></div>
<div><dt>At</dt><dd><time datetime="${new Date(at).toISOString()}">${new Date(at).toISOString().slice(11, 19)} UTC</time></dd></div></dl>
<p class="mono">${text.split('\n').map((line) => html`${linked(line)}<br>`)}</p>
</article>`;

/** A line with its web addresses as links. */
const linked = (line: string): readonly (Html | string)[] =>
  line.split(/(https?:\/\/\S+)/).map((part, index) => (index % 2 === 0 ? part : html`<a href="${part}">${part}</a>`));
