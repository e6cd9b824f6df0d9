// Clients known by their certificates, and tokens bound to them (RFC 8705).
import { addColumn, type MigrationContext } from '../../table.ts';

const names = ['subject_dn', 'san_dns', 'san_uri', 'san_ip', 'san_email'] as const;

export async function clientCertificates(context: MigrationContext): Promise<void> {
  for (const name of names) await addColumn(context, 'clients', `tls_client_auth_${name}`, 'text?');
  await addColumn(context, 'clients', 'tls_client_certificate_bound_access_tokens', 'integer=0');
  for (const table of ['authorization_codes', 'grants']) await addColumn(context, table, 'certificate_thumbprint', 'text?');
}
