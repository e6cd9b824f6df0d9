// Mail transports: SMTP (nodemailer, loaded only when configured) or none, in which case mails stay in the outbox table that
// a developer can read. Which one is the composition root's choice. Queueing and retries are approvals/mail-delivery.ts.

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
      /** Hands a message to the server; rejects when it was not taken. */
      readonly send: (message: Message) => Promise<void>;
      readonly close: () => void;
    };

const smtpTimeoutMs = 15_000;

/** @param smtpUrl e.g. `smtps://user:password@mail.example.com`; undefined: the outbox. */
export async function createMail(smtpUrl: string | undefined, from: string): Promise<Mail> {
  if (smtpUrl === undefined) return { transport: 'outbox', close: () => undefined };
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: 2,
    connectionTimeout: smtpTimeoutMs,
    greetingTimeout: smtpTimeoutMs,
    socketTimeout: smtpTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    transport: 'smtp',
    send: async ({ to, subject, text, html }) => {
      // The address as an object: nothing in it can be read as a list of further recipients.
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: () => transport.close(),
  };
}
