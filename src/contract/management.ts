// Rows of the management and system APIs (design 02) and of the sign-in pages: the management envelope.
import { defineRows } from './row.ts';

const row = { envelope: 'management', section: 'design', opaque: false } as const;

// biome-ignore format: a table, one row a line
export const managementRows = defineRows({
  'management.unauthorized': { ...row, status: 401, opaque: true, code: 'unauthorized', text: 'A valid bearer token is required.', when: 'Missing or invalid bearer token.' },
  'management.forbidden': { ...row, status: 403, code: 'forbidden', when: 'The token lacks the capability; message names it.' },
  'management.conflict': { ...row, status: 409, code: 'conflict', when: 'A unique value is taken.' },
  'management.invalid_request': { ...row, status: 400, code: 'invalid_request', when: 'A field is missing or wrong; kind names it.' },
  'login.not_found': { ...row, status: 404, opaque: true, code: 'not_found', text: 'Not found.', when: 'Unknown transaction, or without its cookie.' },
  'login.conflict': { ...row, status: 409, opaque: true, code: 'conflict', text: 'The sign-in is not at this step.', when: 'A step out of order.' },
  'login.forbidden': { ...row, status: 403, opaque: true, code: 'forbidden', text: 'The request did not come from the sign-in page.', when: 'A post from another origin.' },
  'login.passkey_refused': { ...row, status: 401, opaque: true, code: 'unauthorized', text: 'The passkey was not accepted.', when: 'Any failure of a passkey: unknown, of another person or tenant, wrong signature, challenge, origin or counter, expired, or the person may not sign in.' },
  'login.external_refused': { ...row, status: 401, opaque: true, code: 'external_refused', text: 'The sign-in with the other provider was not accepted.', when: 'Any failure of a sign-in with another provider: refused there, an answer that is not to this sign-in, not from this provider or not valid, a person we may not let in.' },
  'login.logout_refused': { ...row, status: 400, opaque: true, code: 'invalid_request', text: 'The logout token was not accepted.', when: 'Any failure of a logout token of another provider: not for us, not signed by it, too old, or no logout token.' },
  'login.external_unavailable': { ...row, status: 503, opaque: true, code: 'external_unavailable', text: 'The other provider does not answer.', when: 'The other provider cannot be reached or fails.' },
  'login.invalid_request': { ...row, status: 400, code: 'invalid_request', when: 'A field of the step is missing or wrong.' },
});
