// Why a call of ours got no answer, in words and with what to change.
import type { OutboundFailure } from './outbound.ts';

export const outboundWords: Readonly<Record<OutboundFailure, string>> = {
  refused_address: 'The address is not public. The operator of this server can allow it (GATEHOUSE_EGRESS_ALLOW).',
  refused_scheme: 'Only https is read.',
  unresolved: 'The name of the host is not known.',
  timeout: 'The host did not answer in time.',
  busy: 'Too many other calls of the tenant are under way.',
  network: 'The host could not be reached.',
  too_large: 'The document is too large.',
};
