// SMTP to a server of a tenant: its addresses are checked as those of every call are, and the connection goes to a checked one. A
// connection carries one mail.

import type { Outbound, OutboundFailure } from '../net/outbound.ts';
import type { Message } from './mail.ts';

interface SmtpEndpoint {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls' | 'none';
  readonly credentials: { readonly user: string; readonly pass: string } | undefined;
  readonly from: string;
}

/** What the server said to the mail, or why it was not asked or did not answer. */
export type SmtpOutcome =
  | { readonly ok: true; readonly answer: string }
  | { readonly ok: false; readonly reason: OutboundFailure | 'refused'; readonly answer: string };

const answerCharsMax = 500;
const refusals: Readonly<Partial<Record<OutboundFailure, string>>> = {
  refused_address: 'The host has an address that may not be called from here.',
  refused_scheme: 'Without encryption only addresses may be called that the operator allows.',
  unresolved: 'The host has no address.',
  timeout: 'The server did not answer in time.',
  busy: 'Too many other calls of the tenant are under way.',
};

/** Hands a message to the server by an id that repeats keep. @param id of the message, without a domain @param share a tenant's id */
export async function sendBySmtp(
  outbound: Pick<Outbound, 'admit'>,
  endpoint: SmtpEndpoint,
  message: Message,
  {
    id,
    share,
    timeoutMs,
    signal,
  }: { readonly id: string; readonly share: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SmtpOutcome> {
  const admitted = await Promise.race([outbound.admit(endpoint.host, endpoint.security !== 'none', { share, signal }), aborted(signal)]);
  if (admitted === undefined) return failed('timeout');
  if (!admitted.ok) return failed(admitted.reason);
  const transport = await transportTo(endpoint, admitted.address, timeoutMs);
  const domain = /@([^\s>]+)>?$/.exec(endpoint.from)?.[1] ?? 'gatehouse.invalid';
  const sending = transport
    .sendMail({
      from: endpoint.from,
      to: { name: '', address: message.to }, // an object: nothing in it can be read as a list of further recipients
      subject: message.subject,
      text: message.text,
      html: message.html,
      messageId: `<${id}@${domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    .then(
      ({ response }): SmtpOutcome => ({ ok: true, answer: short(response) }),
      (error: Error & { readonly response?: string }): SmtpOutcome =>
        error.response === undefined
          ? { ok: false, reason: 'network', answer: short(error.message) }
          : { ok: false, reason: 'refused', answer: short(error.response) },
    );
  try {
    return (await Promise.race([sending, aborted(signal)])) ?? failed('timeout');
  } finally {
    transport.close();
  }
}

async function transportTo({ host, port, security, credentials }: SmtpEndpoint, address: string, timeoutMs: number) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host: address,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    tls: { servername: host },
    ...(credentials === undefined ? {} : { auth: credentials }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

const failed = (reason: OutboundFailure): SmtpOutcome => ({ ok: false, reason, answer: refusals[reason] ?? reason });
/** One line, without what no page should show. */
const short = (answer: string): string => answer.replaceAll(/\p{Cc}+/gu, ' ').slice(0, answerCharsMax);

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}
