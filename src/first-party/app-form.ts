// A form posted to one of our first-party applications: it must carry the token of the session and no foreign Origin, and it is read
// within limits. Whatever fails is one answer, 403.
import type { FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { equalText } from '../crypto/secret-hash.ts';
import type { AppSession } from './app-session.ts';

/** The fields as typed; a repeated field is a list of choices. */
export type Typed = URLSearchParams;

/** The fields of a post, after the checks against forged ones. @throws login.forbidden, management.malformed */
export function readForm(request: FastifyRequest, session: AppSession): Typed {
  return checkForm(request, session, new URLSearchParams(typeof request.body === 'string' ? request.body : ''));
}

/** Fields that came another way, e.g. with a file, after the same checks. @throws login.forbidden */
export function checkForm(request: FastifyRequest, session: Pick<AppSession, 'csrf'>, typed: Typed): Typed {
  const { origin } = request.headers;
  const own = new URL(request.tenant.baseUrl).origin;
  if (origin !== undefined && origin !== own)
    throw reject('login.forbidden', { reason: 'foreign_origin', received: origin, expected: own });
  if (!equalText(tokenOf(typed).csrf, session.csrf)) throw reject('login.forbidden', 'csrf_token');
  // No value of ours holds a NUL, and PostgreSQL cannot be asked about one.
  for (const value of typed.values()) if (value.includes('\0')) throw reject('management.malformed', 'nul_in_form');
  return typed;
}

/** The id of the form that was sent: of the one time it was shown. @throws login.forbidden */
export function formIdOf(typed: Typed): string {
  const { id } = tokenOf(typed);
  if (id === '') throw reject('login.forbidden', 'form_id');
  return id;
}

function tokenOf(typed: Typed): { readonly csrf: string; readonly id: string } {
  const [csrf = '', id = ''] = (typed.get('csrf') ?? '').split('.', 2);
  return { csrf, id };
}
