// A mail before it is sent: what is built in, and the values a tenant's own wording is filled with. compose.ts makes a message of it.
import type { MailKindName } from '../domain/appearance/mail-kinds.ts';
import type { Language } from '../domain/language.ts';
import type { Html } from '../platform/html.ts';

export interface Letter {
  readonly kind: MailKindName;
  readonly to: string;
  readonly language: Language;
  /** The built-in mail: its subject, plain text, and what stands in the frame. */
  readonly subject: string;
  readonly text: string;
  readonly body: Html;
  /** Of the kind's placeholders; each on one line, but for messages of applications. */
  readonly values: Readonly<Record<string, string>>;
}
