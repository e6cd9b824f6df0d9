// Who may see what is there for trying things out (design 13, "(dev)"): the mailbox of the outbox, the tester without a sign-in. Only
// this machine, asking by the public URL's own name and through no proxy; GATEHOUSE_DEV=1 lets in others, for containers.
import type { FastifyRequest } from 'fastify';
import type { Parts } from './services.ts';

const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
const loopbackPeer = /^(?:::1|(?:::ffff:)?127(?:\.\d{1,3}){3})$/;

export type DeveloperParts = Parts<'config' | 'isDevelopment' | 'publicUrl'>;

export function isDeveloper({ config, isDevelopment, publicUrl }: DeveloperParts, request: FastifyRequest): boolean {
  if (!isDevelopment) return false;
  if (config.dev) return true;
  const { headers, socket } = request.raw;
  if (forwarding.some((name) => headers[name] !== undefined)) return false;
  return loopbackPeer.test(socket.remoteAddress ?? '') && headers.host === new URL(publicUrl).host;
}

/** Where a developer reads mails; undefined for everybody else. */
export const mailboxOf = (services: DeveloperParts, request: FastifyRequest): string | undefined =>
  isDeveloper(services, request) ? `${services.publicUrl}/dev/mail` : undefined;
