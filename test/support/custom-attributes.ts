// One attribute of every kind that a tenant can add, and a person's body with values of them.
import type { Json } from './management.ts';

export const customDefinitions: readonly Json[] = [
  { name: 'cost_code', type: 'string', label: 'Cost code', edit: 'provisioning' },
  { name: 'shoe_size', type: 'number' },
  { name: 'vegetarian', type: 'boolean', edit: 'person' },
  { name: 'hired', type: 'date' },
  { name: 'skills', type: 'string', list: true },
  { name: 'badge', type: 'string', unique: true },
  { name: 'tier', type: 'string', allowed_values: ['gold', 'silver'] },
  { name: 'clearance', type: 'string', edit: 'admin' },
  { name: 'marks', type: 'number', list: true },
];

export const userWith = (name: string, custom: Json): Json => ({ user_name: name, emails: [{ value: `${name}@example.com` }], custom });
