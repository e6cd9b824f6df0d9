// The checks of an AuthnRequest in their documented order (design 06, "Request checks"): from the bytes of the binding to
// what the answer will be. Called by sso.ts. Throws the contract row of the first check that fails.
import { reject } from '../contract/contract-error.ts';
import { samlIssueInstantFutureMsMax, samlIssueInstantPastMsMax, samlXmlLimits } from '../contract/limits.ts';
import { digestMethods, envelopedSignature, exclusiveC14n, signatureMethods } from '../crypto/xml/algorithms.ts';
import { readXml } from '../crypto/xml/reader.ts';
import { verifyEnvelopedSignature } from '../crypto/xml/signature.ts';
import type { XmlElement } from '../crypto/xml/tree.ts';
import type { SignInRule } from '../domain/organizations/sign-in-rule.ts';
import { acceptableClasses, meetsOneOf } from '../domain/saml/authn-context-class.ts';
import type { NameIdFormat } from '../domain/saml/name-id.ts';
import { samlBindings } from '../domain/saml/saml-names.ts';
import { defaultAcs } from '../domain/saml/service-provider.ts';
import { loginMethodNames } from '../domain/sign-in/login-methods.ts';
import { ssoPolicyOf } from '../domain/sign-in/sso-session.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { findSignInOrganization } from '../storage/registry/organizations.ts';
import { consumeSamlRequestId } from '../storage/saml/saml-sessions.ts';
import { type AuthnRequest, parseAuthnRequest } from './authn-request.ts';
import { readPostMessage, readRedirectMessage, verifyQuerySignature } from './bindings.ts';
import { ssoUrl } from './idp.ts';
import { chooseNameIdFormat } from './name-id.ts';
import { findEnabledProvider, type OpenProvider } from './providers.ts';
import type { SsoParameters } from './sso-parameters.ts';

/** What a valid request, or an allowed IdP-initiated start, comes to. */
interface SignInOrder {
  readonly open: OpenProvider;
  /** The one it is for. */
  readonly organization: SignInRule | undefined;
  readonly acsUrl: string;
  readonly inResponseTo: string | undefined;
  readonly relayState: string | undefined;
  readonly nameIdFormat: NameIdFormat;
  /** Best first; a method the tenant offers meets one of them. */
  readonly authnContextClasses: readonly string[];
  /** What is asked of a session of ours, in OIDC's words; undefined for nothing. */
  readonly prompt: string | undefined;
}

type SpInitiated = Extract<SsoParameters, { readonly kind: 'sp_initiated' }>;

export async function checkSpInitiated(
  services: Parts<'cache' | 'clock' | 'database'>,
  tenant: Tenant,
  parameters: SpInitiated,
): Promise<SignInOrder> {
  const { root, request } = readRequest(parameters);
  const { open, organization } = await requireProvider(services, tenant, request.issuer);
  const isSigned = checkSignature(parameters, root, request, open);
  checkAddressAndTime(services, tenant, request, isSigned);
  const lifetimeMs = samlIssueInstantPastMsMax + samlIssueInstantFutureMsMax + 60_000;
  const isFirst = await services.database.write(tenant.id, (queries) =>
    consumeSamlRequestId(queries, tenant.id, request.issuer, request.id, lifetimeMs),
  );
  if (!isFirst) throw reject('saml.invalid_request', { reason: 'replayed_request', received: request.id });
  const acsUrl = chooseAcs(request, open);
  const nameIdFormat = requireNameIdFormat(open, request.nameIdPolicy);
  const authnContextClasses = requireMeetable(tenant, request);
  return {
    open,
    organization,
    acsUrl,
    inResponseTo: request.id,
    relayState: parameters.relayState,
    nameIdFormat,
    authnContextClasses,
    prompt: promptOf(request),
  };
}

export async function checkIdpInitiated(
  services: Parts<'cache' | 'database'>,
  tenant: Tenant,
  sp: string,
  asked: string | undefined,
): Promise<SignInOrder> {
  const { open, organization } = await requireProvider(services, tenant, sp);
  const { provider } = open;
  if (!provider.idpInitiatedAllowed) throw reject('saml.unauthorized', { reason: 'idp_initiated_not_allowed', received: sp });
  const relayState = asked !== undefined && provider.relayStates.includes(asked) ? asked : provider.relayStates[0];
  const nameIdFormat = requireNameIdFormat(open, undefined);
  return {
    open,
    organization,
    acsUrl: defaultAcs(provider).url,
    inResponseTo: undefined,
    relayState,
    nameIdFormat,
    authnContextClasses: acceptableClasses(undefined),
    prompt: 'select_account', // nobody asked for this sign-in but the page that led here
  };
}

function readRequest(parameters: SpInitiated): { readonly root: XmlElement; readonly request: AuthnRequest } {
  const message = parameters.binding === 'redirect' ? readRedirectMessage(parameters.all) : readPostMessage(parameters.all);
  if (!message.ok) throw reject('saml.invalid_request', message.reason);
  const xml = readXml(message.xml, { limits: samlXmlLimits, comments: 'refused' });
  if (!xml.ok) throw reject('saml.invalid_request', xml.reason);
  const reading = parseAuthnRequest(xml.root);
  if (!reading.ok) throw reject('saml.invalid_request', reading.reason);
  return { root: xml.root, request: reading.request };
}

/** The provider, and the organisation whose it is: one that is disabled is as a provider that is. */
async function requireProvider(
  { cache, database }: Parts<'cache' | 'database'>,
  tenant: Tenant,
  entityId: string,
): Promise<Pick<SignInOrder, 'open' | 'organization'>> {
  const open = await findEnabledProvider(cache, tenant.id, entityId);
  if (typeof open === 'string') throw reject('saml.unauthorized', { reason: `service_provider_${open}`, received: entityId });
  const { organization: id } = open.provider;
  if (id === undefined) return { open, organization: undefined };
  const organization = await database.read(tenant.id, (queries) => findSignInOrganization(queries, tenant.id, id));
  if (organization === undefined) throw reject('saml.unauthorized', { reason: 'organization_disabled', received: entityId });
  return { open, organization };
}

/** By the last word of their URIs: whole, the list is longer than what is kept of a value. */
const acceptedAlgorithms = [envelopedSignature, exclusiveC14n, ...signatureMethods, ...digestMethods]
  .map((uri) => uri.split(/[#/]/).findLast((word) => word !== ''))
  .join(' ');

/** SAML bindings 3.4.4.1: the binding signs its query, and the message within carries no signature. */
const inQueryAlone = 'no signature inside the XML: Redirect is signed in the query alone (Signature, SigAlg)';

// True when the request is signed and the signature holds; false when it may be unsigned and is.
function checkSignature(
  parameters: SpInitiated,
  root: XmlElement,
  request: AuthnRequest,
  { provider, signingKeys }: OpenProvider,
): boolean {
  const byKey = `a signature by one of ${signingKeys.length} keys of ${provider.entityId}`;
  const refuse = (reason: string, received?: string, expected = received === undefined ? byKey : acceptedAlgorithms): Error =>
    reject('saml.signature_invalid', { reason, received, expected });
  const claimsSignature = request.isSigned || parameters.all.has('Signature') || parameters.all.has('SigAlg');
  if (!claimsSignature) {
    if (provider.requireSignedRequests) throw refuse('signature_required');
    return false;
  }
  if (signingKeys.length === 0) throw refuse('no_registered_signing_key');
  if (parameters.binding === 'redirect') {
    if (request.isSigned) throw refuse('embedded_signature_in_redirect', undefined, inQueryAlone);
    const query = verifyQuerySignature(parameters.all, signingKeys);
    if (query.state === 'refused') throw refuse(query.reason, query.received);
    return query.state === 'verified';
  }
  const verification = verifyEnvelopedSignature(root, signingKeys);
  if (!verification.ok) throw refuse(verification.reason, verification.received);
  return true;
}

function checkAddressAndTime(services: Parts<'clock'>, tenant: Tenant, request: AuthnRequest, isSigned: boolean): void {
  const expected = ssoUrl(tenant);
  if (request.destination === undefined ? isSigned : request.destination !== expected) {
    throw reject('saml.invalid_request', { reason: 'destination', received: request.destination, expected });
  }
  const ageMs = services.clock.nowMs() - request.issueInstantMs;
  if (ageMs > samlIssueInstantPastMsMax || -ageMs > samlIssueInstantFutureMsMax) {
    throw reject('saml.invalid_request', {
      reason: 'issue_instant_out_of_window',
      received: new Date(request.issueInstantMs).toISOString(),
    });
  }
}

function chooseAcs(request: AuthnRequest, { provider }: OpenProvider): string {
  const { acsUrl, acsIndex, protocolBinding } = request;
  if (acsUrl !== undefined && acsIndex !== undefined) throw reject('saml.invalid_request', 'acs_url_and_index');
  if (protocolBinding !== undefined && protocolBinding !== samlBindings.post) {
    throw reject('saml.invalid_request', { reason: 'protocol_binding', received: protocolBinding, expected: samlBindings.post });
  }
  if (acsUrl === undefined && acsIndex === undefined) return defaultAcs(provider).url;
  const found = provider.acs.find((acs) => (acsUrl === undefined ? acs.index === acsIndex : acs.url === acsUrl));
  if (found === undefined) {
    throw reject('saml.acs_unregistered', {
      reason: 'acs_unregistered',
      received: acsUrl ?? acsIndex,
      expected: provider.acs.map(({ url }) => url).join(' '),
    });
  }
  return found.url;
}

function requireNameIdFormat({ provider }: OpenProvider, policy: AuthnRequest['nameIdPolicy']): NameIdFormat {
  const choice = chooseNameIdFormat(provider, policy);
  if (choice.ok) return choice.format;
  throw rejectNameIdPolicy({
    reason: choice.reason,
    received: policy?.format ?? policy?.spNameQualifier,
    expected: provider.nameIdFormats.join(' '),
  });
}

/** The row of a name that cannot be given; its text is the SAML status. */
export function rejectNameIdPolicy(cause: {
  readonly reason: string;
  readonly received?: string | undefined;
  readonly expected?: string | undefined;
}): Error {
  return reject('saml.name_id_policy', cause);
}

/** SAML core 3.4.1: ForceAuthn and IsPassive, both of them as well. */
function promptOf({ isPassive, forceAuthn }: AuthnRequest): string | undefined {
  const prompts = [...(isPassive ? ['none'] : []), ...(forceAuthn ? ['login'] : [])];
  return prompts.length === 0 ? undefined : prompts.join(' ');
}

// Passive needs a session of ours (design 14, 1), and there is no subject but the one who signs in.
function requireMeetable(tenant: Tenant, request: AuthnRequest): readonly string[] {
  if (request.isPassive && ssoPolicyOf(tenant.settings.sso_session) === undefined) throw reject('saml.invalid_request', 'is_passive');
  if (request.namesSubject) throw reject('saml.invalid_request', 'subject_requested');
  const acceptable = acceptableClasses(request.requestedAuthnContext);
  const offered = loginMethodNames.filter((method) => tenant.settings.login_methods.includes(method));
  if (!offered.some((method) => meetsOneOf(acceptable, method))) {
    throw reject('saml.invalid_request', {
      reason: 'authn_context',
      received: request.requestedAuthnContext?.classes.join(' '),
      expected: `a class that ${offered.join(', ')} can meet`,
    });
  }
  return acceptable;
}
