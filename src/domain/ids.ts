// Branded identifiers: a tenant's id cannot be passed where a client's is wanted. Brands exist in types only.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type TenantId = Branded<'TenantId'>;
export type ClientId = Branded<'ClientId'>;
export type UserId = Branded<'UserId'>;
export type GroupId = Branded<'GroupId'>;
/** One authorization of one client by one user: the `sid` of its tokens. */
export type GrantId = Branded<'GrantId'>;
export type ServiceProviderId = Branded<'ServiceProviderId'>;
export type ApprovalId = Branded<'ApprovalId'>;
export type TransactionId = Branded<'TransactionId'>;
/** One account signed in in one browser. */
export type SsoSessionId = Branded<'SsoSessionId'>;
export type DeviceId = Branded<'DeviceId'>;
/** Another provider people may sign in with. */
export type IdentityProviderId = Branded<'IdentityProviderId'>;
/** What a provider calls one of our users. */
export type ExternalIdentityId = Branded<'ExternalIdentityId'>;
export type WebhookId = Branded<'WebhookId'>;
/** A stream of security events to one receiver. */
export type SsfStreamId = Branded<'SsfStreamId'>;
export type ConnectorId = Branded<'ConnectorId'>;
/** A directory of LDAP that people are copied from. */
export type LdapDirectoryId = Branded<'LdapDirectoryId'>;
export type PasskeyId = Branded<'PasskeyId'>;
