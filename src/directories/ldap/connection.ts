// Connects to the server of a directory: to an address that may be called from here, encrypted before anything is said, and to nobody but whom the
// certificate names as the address of the directory does. An ldap:// begins in the clear with one request, for TLS (RFC 4511 4.14), whose
// answer is all that is read before: what a stranger puts behind it is not taken for the server's.
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { LdapDirectory } from '../../domain/extending/ldap-directory.ts';
import { ldapAddressOf } from '../../domain/extending/ldap-syntax.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Outbound } from '../../platform/net/outbound.ts';
import { readAnswer } from './answers.ts';
import { faultOf, faultOfAnswer } from './faults.ts';
import { createMessages, readable } from './messages.ts';
import { type Allowance, messageOf, waitFor } from './waiting.ts';

const startTlsOid = '1.3.6.1.4.1.1466.20037';
const startTlsMessageId = 1;

type Connected = Pick<LdapDirectory, 'url' | 'starttls' | 'ca'>;

/** How long a connection may take, and what gives it up sooner. */
interface Waiting {
  readonly allowance: Allowance;
  readonly signal: AbortSignal;
}

/** @throws DirectoryFault */
export async function connectEncrypted(
  outbound: Pick<Outbound, 'admit'>,
  share: TenantId,
  { url, starttls, ca }: Connected,
  { allowance, signal }: Waiting,
): Promise<TLSSocket> {
  const to = ldapAddressOf(url);
  if (to === undefined || (to.scheme === 'ldap' && !starttls)) throw faultOf('not_allowed', 'the address is not encrypted');
  const address = await admittedAddress(outbound, share, to.host, { allowance, signal });
  // One that fails while nobody waits for it is seen at the next wait.
  const socket = connect({ host: address, port: to.port }).on('error', ignored);
  try {
    await waitFor(socket, 'connect', signal, allowance);
    if (to.scheme === 'ldap') await askForTls(socket, { allowance, signal });
    return await encrypt(socket, to.host, ca, { allowance, signal });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

const ignored = (): void => undefined;

/** @throws DirectoryFault */
async function admittedAddress(
  outbound: Pick<Outbound, 'admit'>,
  share: TenantId,
  host: string,
  { allowance, signal }: Waiting,
): Promise<string> {
  const beganAt = performance.now();
  const until = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.floor(allowance.leftMs)))]);
  const admitted = await Promise.race([outbound.admit(host, true, { share, signal: until }), aborted(until)]);
  allowance.leftMs -= performance.now() - beganAt;
  if (admitted === undefined) throw faultOf('timeout', `${host} was not resolved in time`);
  if (admitted.ok) return admitted.address;
  throw admitted.reason === 'unresolved'
    ? faultOf('unreachable', `${host} has no address`)
    : faultOf('not_allowed', `${host} has an address that may not be called from here`);
}

/** @throws DirectoryFault */
async function encrypt(socket: Socket, host: string, ca: string | undefined, { allowance, signal }: Waiting): Promise<TLSSocket> {
  let encrypted: TLSSocket;
  try {
    // `host` is what the certificate must name, as a name or as an address; one that is an address is not told the server (RFC 6066 3).
    encrypted = connectTls({
      ...{ socket, host, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: true },
      ...(ca !== undefined && { ca }),
    }).on('error', ignored);
  } catch (error) {
    throw faultOf('certificate', `the certificates of its authority cannot be read: ${messageOf(error)}`);
  }
  try {
    await waitFor(encrypted, 'secureConnect', signal, allowance);
    return encrypted;
  } catch (error) {
    encrypted.destroy();
    // Why a certificate was not taken, where it was not.
    throw encrypted.authorizationError ? faultOf('certificate', messageOf(encrypted.authorizationError)) : error;
  }
}

/** @throws DirectoryFault */
async function askForTls(socket: Socket, { allowance, signal }: Waiting): Promise<void> {
  const { ExtendedRequest } = await import('ldapts');
  const messages = createMessages(socket, signal);
  socket.write(new ExtendedRequest({ messageId: startTlsMessageId, oid: startTlsOid }).write());
  const answer = await messages.next(allowance);
  const { messageId, is } = readable(() => readAnswer(answer));
  if (messageId !== startTlsMessageId || is.kind !== 'done' || is.operation !== 'extended' || messages.hasMore())
    throw faultOf('malformed', 'something else than an answer to STARTTLS');
  if (is.code !== 0) throw faultOf('refused', `STARTTLS: ${faultOfAnswer(is, '').failure.detail ?? ''}`);
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}
