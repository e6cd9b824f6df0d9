// Somebody leaves: found, suspended, their sessions ended, and what they held told in one place, the card of the person.
import { askForCode, makePerson, typeCode } from '../somebody-else.ts';
import type { Task } from '../task.ts';
import { markOf, type Walker, type Way } from '../walker.ts';

/** Who is signed in while they are seen off. */
const leaving = new Map<Way, Walker>();

export const leavingTasks: readonly Task[] = [
  {
    name: 'Somebody leaves: suspend them, end their sessions, see what they held',
    clicksMax: 5,
    prepare: async (administrator, way) => {
      const { baseUrl, call, mailedCode, openGuest } = administrator;
      const name = `Linus Leaving ${markOf(way)}`;
      const { id, email } = await makePerson(administrator, name);
      const { id: group } = await call('POST', '/groups', { display_name: `Buyers ${markOf(way)}` });
      await call('POST', `/groups/${String(group)}/members`, { user_id: id });
      await call('PUT', `/users/${id}/roles`, { roles: ['admin'] });
      const guest = await openGuest(way);
      leaving.set(way, guest);
      await askForCode(guest, `${baseUrl}/console`, email);
      await typeCode(guest, await mailedCode(email));
      await guest.press('Applications');
      await guest.press('New application');
      await guest.press('Web');
      await guest.type('Name', `Stall ${markOf(way)}`);
      await guest.type('Redirect URIs', 'https://stall.example/callback');
      await guest.press('Create');
      await guest.sees('What the program needs');
      return name;
    },
    walk: async ({ press, search, sees, reads, way }, name) => {
      const guest = leaving.get(way)!;
      try {
        await search(name);
        await press(name);
        await press(/^Suspend/);
        await sees(/1 session ends\./);
        await press('Suspend');
        await sees(`${name} is suspended`);
        await sees('They cannot sign in.');
        await reads(/Signed in to\s+Applications\s+nothing/);
        await sees(`Buyers ${markOf(way)}`);
        await press('1 secret they know');
        await sees(`Stall ${markOf(way)}`);
        await sees('Make a new secret, or replace its keys');
        await guest.reload();
        await guest.sees(/^(Email or user name|This console is for administrators)$/);
      } finally {
        await guest.close();
      }
    },
  },
];
