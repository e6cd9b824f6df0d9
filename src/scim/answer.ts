// How SCIM answers leave: application/scim+json, entity tags, locations, and JSON in pieces for what may be large.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

const scimMediaType = 'application/scim+json; charset=utf-8';
const streamAfterChars = 262_144;

/** Sends a JSON value. */
export function sendJson(reply: FastifyReply, status: number, json: unknown): FastifyReply {
  return reply.code(status).header('content-type', scimMediaType).header('cache-control', 'no-store').send(JSON.stringify(json));
}

/** Sends JSON text that comes in pieces: at once while it is small, as a stream when it is not. */
export async function sendPieces(reply: FastifyReply, status: number, pieces: AsyncGenerator<string>): Promise<FastifyReply> {
  reply.code(status).header('content-type', scimMediaType).header('cache-control', 'no-store');
  let text = '';
  for (;;) {
    const piece = await pieces.next();
    if (piece.done === true) return reply.send(text);
    text += piece.value;
    if (text.length > streamAfterChars) return reply.send(Readable.from(rest(text, pieces), { objectMode: false }));
  }
}

async function* rest(first: string, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* pieces;
}

/** Sends an answer without a body. */
export function sendEmpty(reply: FastifyReply, status: 204 | 304): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').send();
}
