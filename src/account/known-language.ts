// The language of the person who made a request, once it is known: pages of errors speak it too.
import type { FastifyRequest } from 'fastify';
import type { Language } from '../domain/language.ts';

const known = new WeakMap<FastifyRequest, Language>();

export const knownLanguage = (request: FastifyRequest): Language | undefined => known.get(request);

export const rememberLanguage = (request: FastifyRequest, language: Language): void => void known.set(request, language);
