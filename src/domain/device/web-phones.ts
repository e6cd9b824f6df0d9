// Whether a tenant's people may use browsers as phones: a setting, and never where attestation is enforced.
import type { Tenant } from '../tenant/tenant.ts';

export const areWebPhonesAllowed = ({ settings: { device, attestation } }: Tenant): boolean =>
  device.web_phones && attestation.mode !== 'enforce';
