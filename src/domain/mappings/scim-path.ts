// The paths of SCIM that mapping rules write to (RFC 7644 3.10, as far as a rule needs it): an attribute, of an extension, of one type, a
// part of it. Pure.
export const scimUserSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';

export interface ScimPath {
  /** Of an extension. */
  readonly schema: string | undefined;
  readonly attribute: string;
  readonly type: string | undefined;
  readonly sub: string | undefined;
}

const shape =
  /^(?:(urn:[A-Za-z0-9:._-]+):)?([A-Za-z$][A-Za-z0-9_$-]*)(?:\[type eq "([A-Za-z0-9_-]{1,40})"\])?(?:\.([A-Za-z$][A-Za-z0-9_$-]*))?$/;
/** Of the protocol, or ours to say. */
const reserved: readonly string[] = ['id', 'schemas', 'meta', 'groups', 'password', 'active'];
export const scimPlurals: readonly string[] = [
  'emails',
  'phoneNumbers',
  'ims',
  'photos',
  'addresses',
  'entitlements',
  'roles',
  'x509Certificates',
];

/** The parts of a path; undefined for what is none. */
export function readScimPath(path: string): ScimPath | undefined {
  const [found, schema, attribute = '', type, sub] = shape.exec(path) ?? [];
  return found === undefined ? undefined : { schema: schema === scimUserSchema ? undefined : schema, attribute, type, sub };
}

/** What is wrong with a path that a rule writes to. */
export function scimPathFault(path: string): string | undefined {
  const read = readScimPath(path);
  if (read === undefined) return 'must be a path of SCIM such as userName, name.givenName, emails[type eq "work"].value';
  return read.schema === undefined && reserved.includes(read.attribute) ? `${read.attribute} is not for rules to say` : undefined;
}
