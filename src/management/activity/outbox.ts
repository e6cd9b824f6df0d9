// The system API's outbox: mails that were not sent because there is no SMTP, for an operator or a test to read.
import Type from 'typebox';
import { emailCharsMax, requestIdCharsMax } from '../../contract/limits.ts';
import { listOutboxMessages } from '../../storage/records/outbox-messages.ts';
import { openQueuedMail } from '../../tokens/queued-mail.ts';
import { type Endpoint, endpoint, isoTime, notFound } from '../endpoint.ts';
import { closed, dateTime } from '../schemas.ts';

const messagesMax = 200;
const message = Type.Object({
  id: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  created_at: dateTime,
});

export const outboxEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/outbox',
    summary: 'Read mails of the outbox, oldest first, after an id',
    query: closed({
      to: Type.Optional(Type.String({ minLength: 1, maxLength: emailCharsMax })),
      after: Type.Optional(Type.String({ minLength: 1, maxLength: requestIdCharsMax })),
    }),
    answer: Type.Object({ messages: Type.Array(message) }),
    status: 200,
    handle: async ({ services, query }) => {
      if (services.config.smtpUrl !== undefined) throw notFound('no_outbox');
      const rows = await services.database.systemRead((queries) => listOutboxMessages(queries, { ...query, limit: messagesMax }));
      const messages = rows.map((row) => ({
        id: row.id,
        ...openQueuedMail(services.encryption, row),
        created_at: isoTime(row.created_at),
      }));
      return { messages };
    },
  }),
];
