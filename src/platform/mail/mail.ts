// Mail transports: SMTP (nodemailer, loaded only when configured) or none, in which case mails stay in the outbox table that
// a developer can read. Which one is the composition root's choice. approvals/mailed/mail-delivery.ts queues.

export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type Mail =
  | { readonly transport: 'outbox'; readonly close: () => void }
  | {
      readonly transport: 'smtp';
      /** Hands a message to the server by an id that repeats keep; rejects when it was not taken, and when the signal says so. */
      readonly send: (message: Message, id: string, signal: AbortSignal) => Promise<void>;
      readonly close: () => void;
    };

/** Of each step of a conversation. */
export const smtpTimeoutMs = 15_000;
/** As many as a node has mails in hand (deliveries/kinds.ts). */
const maxConnections = 5;

/** @param smtpUrl e.g. `smtps://user:password@mail.example.com`; undefined: the outbox. */
export async function createMail(smtpUrl: string | undefined, from: string): Promise<Mail> {
  if (smtpUrl === undefined) return { transport: 'outbox', close: () => undefined };
  const { createTransport } = await import('nodemailer');
  const domain = /@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? 'gatehouse.invalid';
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections,
    connectionTimeout: smtpTimeoutMs,
    greetingTimeout: smtpTimeoutMs,
    socketTimeout: smtpTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    transport: 'smtp',
    send: async ({ to, subject, text, html }, id, signal) => {
      // The address as an object: nothing in it can be read as a list of further recipients.
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        signal,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: () => transport.close(),
  };
}
