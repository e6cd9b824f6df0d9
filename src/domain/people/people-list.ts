// How people are listed: by what they are sorted, and what chooses whom. The Management API takes these parameters, and the console's
// list of people has them in its address under the same names. Pure.
import type { Capability } from './capabilities.ts';
import type { UserOrigin } from './user.ts';

/** Where an index gives the order; a minus turns it around. `best`: who is meant by what was typed comes first. */
export const peopleSorts = ['name', '-name', 'user_name', '-user_name', 'created_at', '-created_at', 'best'] as const;
export type PeopleSort = (typeof peopleSorts)[number];

/** A text of more words is looked for as it stands. */
export const searchedWordsMax = 6;

interface PeopleChoice {
  readonly label: string;
  /** The values there are; without them any text. */
  readonly values?: Readonly<Record<string, string>>;
  /** What it tells of people is of this capability. */
  readonly takes?: Capability;
}

/** What chooses people beside a part of their name; all go together. */
export const peopleChoices = {
  state: { label: 'State', values: { active: 'Active', suspended: 'Suspended' } },
  origin: {
    label: 'From',
    values: { console: 'Made here', scim: 'A directory', signup: 'Signed up' } satisfies Record<UserOrigin, string>,
  },
  invited: {
    label: 'Invited',
    values: { open: 'Invited, has not come', expired: 'Invitation ended unused' },
    takes: 'invitations:read',
  },
  group: { label: 'Group', takes: 'groups:read' },
  role: { label: 'Role', takes: 'administrators:read' },
  signed_in_since: { label: 'Signed in since' },
  not_signed_in_since: { label: 'Not signed in since' },
} as const satisfies Readonly<Record<string, PeopleChoice>>;

type PeopleChoiceName = keyof typeof peopleChoices;
export const peopleChoiceNames = Object.keys(peopleChoices) as readonly PeopleChoiceName[];
