// Mail: one sending function. The transport is SMTP (nodemailer) or the outbox table that a developer can read;
// which one is the composition root's choice.

export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mail {
  /** Hands a message to the transport; rejects when it could not be taken. `tenant` says whose mail it is. */
  readonly send: (tenant: string, message: Message) => Promise<void>;
  readonly transport: 'smtp' | 'outbox';
}
