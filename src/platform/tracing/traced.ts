// The ways out of the house, seen in traces: calls to other servers carry on the trace they belong to; mails and pushes, and calls
// that no request waits for, are deliveries. Wraps what the composition root made, where tracing is on.
import type { Mail } from '../mail/mail.ts';
import type { Outbound } from '../net/outbound.ts';
import type { PushSend } from '../push/push.ts';
import type { PushWays } from '../push/senders.ts';
import { currentSpan, endingWith, inSpan } from './span.ts';
import type { Tracing } from './tracing.ts';

export function tracedOutbound({ fetch, admit }: Outbound, tracing: Tracing): Outbound {
  const call: Outbound['fetch'] = (request) => {
    const span = currentSpan();
    const headers = span === undefined ? request.headers : { ...request.headers, traceparent: span.traceparent };
    return fetch({ ...request, ...(headers === undefined ? {} : { headers }) });
  };
  return {
    admit,
    fetch: (request) =>
      currentSpan() === undefined ? delivered(tracing, () => call(request)) : inSpan('outbound call', () => call(request)),
  };
}

export function tracedMail(mail: Mail, tracing: Tracing): Mail {
  return mail.transport === 'smtp' ? { ...mail, send: (...sending) => delivered(tracing, () => mail.send(...sending)) } : mail;
}

export function tracedPush({ senders, operator }: PushWays, tracing: Tracing): PushWays {
  const traced =
    <Account>(send: PushSend<Account>): PushSend<Account> =>
    (...sending) =>
      delivered(tracing, () => send(...sending));
  return { operator, senders: { apns: traced(senders.apns), fcm: traced(senders.fcm), web: traced(senders.web) } };
}

/** In a trace of its own, if it is sampled. */
function delivered<T>(tracing: Tracing, work: () => Promise<T>): Promise<T> {
  const span = tracing.begin('delivery', {});
  return span === undefined ? work() : endingWith(span, work);
}
