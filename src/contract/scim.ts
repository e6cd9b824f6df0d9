// Contract 7.13: the SCIM rows. `code` is not sent; the envelope carries status, scimType and detail.
import { defineRows } from './row.ts';

const typed = { envelope: 'scim', status: 400, opaque: false, section: '7.13' } as const;

export const scimRows = defineRows({
  'scim.invalidFilter': {
    ...typed,
    code: 'invalidFilter',
    scimType: 'invalidFilter',
    when: 'Unknown attribute path, unsupported operator, malformed or over-long filter.',
  },
  'scim.invalidValue': { ...typed, code: 'invalidValue', scimType: 'invalidValue', when: 'A value or combination the service refuses.' },
  'scim.invalidSyntax': {
    ...typed,
    code: 'invalidSyntax',
    scimType: 'invalidSyntax',
    when: 'PATCH op not add, replace or remove; unreadable body.',
  },
  'scim.invalidPath': {
    ...typed,
    code: 'invalidPath',
    scimType: 'invalidPath',
    when: 'Unsupported PATCH path, or a bulk path or id problem.',
  },
  'scim.noTarget': { ...typed, code: 'noTarget', scimType: 'noTarget', when: 'A PATCH value path matched no value.' },
  'scim.uniqueness': {
    ...typed,
    status: 409,
    code: 'uniqueness',
    scimType: 'uniqueness',
    when: 'userName, email or group displayName collision.',
  },
  'scim.tooMany': { ...typed, status: 413, code: 'tooMany', scimType: 'tooMany', when: 'More than 1000 operations in a bulk request.' },
  'scim.tooLarge': { ...typed, status: 413, code: 'tooLarge', scimType: 'tooLarge', when: 'Bulk payload over 1 MiB.' },
  'scim.unauthorized': {
    ...typed,
    status: 401,
    code: 'unauthorized',
    header: 'www-authenticate',
    when: 'Missing or invalid bearer token; detail names the reason.',
  },
  'scim.forbidden': {
    ...typed,
    status: 403,
    code: 'forbidden',
    header: 'www-authenticate',
    when: 'The token lacks scim:read, scim:write or a capability of the person it would change; detail names it.',
  },
  'scim.resource_not_found': {
    ...typed,
    status: 404,
    opaque: true,
    code: 'not_found',
    text: 'Resource not found.',
    when: 'User, Group or Schema not found; a console-managed group.',
  },
  'scim.precondition_failed': {
    ...typed,
    status: 412,
    opaque: true,
    code: 'precondition_failed',
    text: 'The resource has another version.',
    when: 'If-Match does not match.',
  },
});
