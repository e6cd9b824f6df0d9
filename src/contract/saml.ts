// Contract 7.12: the SAML rows (OAuth envelope).
import { defineRows } from './row.ts';

const opaque = { envelope: 'oauth', status: 400, opaque: true, section: '7.12' } as const;

// biome-ignore format: a table, one row a line
export const samlRows = defineRows({
  'saml.unauthorized': { ...opaque, status: 401, code: 'unauthorized', when: 'Unknown SP entityID, IdP-initiated SSO not allowed, or a failed delivery gate.' },
  'saml.invalid_request': { ...opaque, opaque: false, code: 'invalid_request', when: 'SAMLRequest unparseable or out of bounds, neither or both of SAMLRequest and sp, or a condition that cannot be met.' },
  'saml.signature_invalid': { ...opaque, code: 'invalid_request', when: 'Request-signature verification failed, wrapping included.' },
  'saml.acs_unregistered': { ...opaque, code: 'invalid_request', when: 'The AssertionConsumerServiceURL or index is not registered.' },
  'saml.name_id_policy': {
    ...opaque, code: 'invalid_request', text: 'urn:oasis:names:tc:SAML:2.0:status:InvalidNameIDPolicy', when: 'The NameID policy cannot be satisfied.',
  },
  'saml.invalid_grant': { ...opaque, code: 'invalid_grant', when: 'The post-back session has no authorized subject.' },
  'saml.session_not_found': { ...opaque, status: 404, code: 'not_found', when: 'Session missing, unknown, not ready or already delivered.' },
  'saml.certificate_not_found': { ...opaque, status: 404, code: 'not_found', when: '`kid` names no published certificate.' },
});
