// A stream of security event tokens (design 16, 2; SSF 1.0): what its receiver, an OAuth client, asks for, and the types of events there
// are. Pure.
import type { ClientId, SsfStreamId } from '../ids.ts';

/** How tokens reach the receiver (SSF 1.0, 10.3.1): we post them (RFC 8935), or it fetches them (RFC 8936). */
export const deliveryMethods = { push: 'urn:ietf:rfc:8935', poll: 'urn:ietf:rfc:8936' } as const;
export type DeliveryMethod = keyof typeof deliveryMethods;

const schemas = 'https://schemas.openid.net/secevent';

/** What happens to people, by CAEP 1.0 and RISC 1.0. */
export const securityEvents = {
  sessionRevoked: `${schemas}/caep/event-type/session-revoked`,
  credentialChange: `${schemas}/caep/event-type/credential-change`,
  accountDisabled: `${schemas}/risc/event-type/account-disabled`,
  accountEnabled: `${schemas}/risc/event-type/account-enabled`,
  accountPurged: `${schemas}/risc/event-type/account-purged`,
  identifierChanged: `${schemas}/risc/event-type/identifier-changed`,
} as const;
export type SecurityEvent = (typeof securityEvents)[keyof typeof securityEvents];

/** What is told of the stream itself, whatever it asks for. */
export const streamEvents = {
  verification: `${schemas}/ssf/event-type/verification`,
  streamUpdated: `${schemas}/ssf/event-type/stream-updated`,
} as const;

export const supportedEvents: readonly SecurityEvent[] = Object.values(securityEvents);

export const streamStatuses = ['enabled', 'paused', 'disabled'] as const;
export type StreamStatus = (typeof streamStatuses)[number];

/** What the receiver chooses. */
export interface StreamValues {
  readonly method: DeliveryMethod;
  /** Where we post tokens. */
  readonly url: string | undefined;
  /** The Authorization header of those posts; sealed where it is stored. */
  readonly authorizationHeader: string | undefined;
  /** Undefined: every type there is. */
  readonly eventsRequested: readonly string[] | undefined;
  readonly description: string | undefined;
}

export interface SsfStream extends StreamValues {
  readonly id: SsfStreamId;
  /** The receiver. */
  readonly clientId: ClientId;
  readonly status: StreamStatus;
  readonly statusReason: string | undefined;
}

/** The types of events a stream is told of: those it asks for that there are. */
export const deliveredEvents = ({ eventsRequested }: Pick<StreamValues, 'eventsRequested'>): readonly SecurityEvent[] =>
  eventsRequested === undefined ? supportedEvents : supportedEvents.filter((type) => eventsRequested.includes(type));
