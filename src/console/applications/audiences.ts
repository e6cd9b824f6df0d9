// What tokens of a new machine are for: whoever may use the Management API asks for tokens for it.
import type { Json } from '../../domain/field.ts';
import type { Visit } from '../console-visit.ts';

export function audiencesOf(visit: Visit, { scopes }: Json): Json {
  const wanted = (scopes ?? []) as readonly string[]; // a field of checks
  return wanted.some((scope) => !scope.startsWith('scim:')) ? { resources: [visit.request.tenant.managementApi] } : {};
}
