// The link of a page that is sent to whoever runs a SAML application: which application, and until when, sealed under the master key. Nothing
// is stored; it ends by itself, and with the application.
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';

export const handedOverPrefix = '/handed-over';
const linkMs = 7 * 86_400_000;

const purposeOf = ({ id }: Tenant): string => `saml-handed-over:${id}`;

export function handedOverLink({ clock, encryption }: Parts<'clock' | 'encryption'>, tenant: Tenant, id: string): string {
  const sealed = encryption.seal(JSON.stringify({ id, untilMs: clock.nowMs() + linkMs }), purposeOf(tenant));
  return `${tenant.baseUrl}${handedOverPrefix}/${sealed}`;
}

/** The application of a link that is ours and has not ended. */
export function openHandedOverLink(
  { clock, encryption }: Parts<'clock' | 'encryption'>,
  tenant: Tenant,
  sealed: string,
): string | undefined {
  try {
    const { id, untilMs } = JSON.parse(encryption.open(sealed, purposeOf(tenant))) as { readonly id: string; readonly untilMs: number }; // sealed above
    return untilMs > clock.nowMs() ? id : undefined;
  } catch {
    return undefined;
  }
}
