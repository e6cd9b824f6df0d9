// A webhook that we disable: it says it is gone, or nothing arrives there. The administrators are mailed; what waits goes on waiting.
import { mailAdministrators } from '../approvals/mailed/administrators-mail.ts';
import type { MailDeps } from '../approvals/mailed/mail-delivery.ts';
import { type DisabledReason, toldUrl } from '../domain/extending/webhook.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { mails } from '../mails/registry.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { disableWebhook, type PostedWebhook } from '../storage/registry/extending/webhooks.ts';

/** Disables a webhook, unless it goes elsewhere meanwhile, and mails the administrators, once. */
export async function turnOff(
  { cache, clock, mail, encryption }: MailDeps & { readonly cache: ConfigCache },
  tenant: Tenant,
  webhook: PostedWebhook,
  reason: DisabledReason,
): Promise<void> {
  const { id, url } = webhook;
  await cache.write(tenant.id, async (queries) => {
    if (!(await disableWebhook(queries, tenant.id, webhook, reason))) return;
    await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: 'webhook.disabled',
      actor: 'system',
      target: `webhook:${id}`,
      reason,
      data: { url: toldUrl(url) },
    });
    await mailAdministrators(queries, { clock, mail, encryption }, tenant, (to, language) =>
      mails.webhookDisabled.make({ tenantName: tenant.name, language, url, reason }, to),
    );
  });
}
