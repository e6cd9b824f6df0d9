// `directory` of a person or a group that is an entry of a directory of LDAP: which one, and what of them it says, which nobody else changes.
// Absent for everybody else; a tenant without directories asks the database nothing.
import Type from 'typebox';
import { writtenBy } from '../../domain/extending/ldap-directory.ts';
import { findDirectoriesOf } from '../../storage/people/directories/ldap-people.ts';
import { listCachedDirectories } from '../../storage/registry/extending/ldap-directories.ts';
import type { Call, Json } from '../endpoint.ts';

/** The property in an answer. */
export const fromDirectory = {
  directory: Type.Optional(
    Type.Object(
      { id: Type.String(), attributes: Type.Array(Type.String()) },
      { description: 'the LDAP directory they come from, and what of them is changed there and nowhere else' },
    ),
  ),
};

/** What is told of a person. */
export const directoryOfPerson = (call: Pick<Call<unknown, unknown>, 'services' | 'tenant'>, id: string): Promise<Json> =>
  directoryOf(call, id, (directory) => [...writtenBy(directory)]);

/** What is told of a group. */
export const directoryOfGroup = (call: Pick<Call<unknown, unknown>, 'services' | 'tenant'>, id: string): Promise<Json> =>
  directoryOf(call, id, () => ['display_name', 'members']);

async function directoryOf(
  { services, tenant }: Pick<Call<unknown, unknown>, 'services' | 'tenant'>,
  id: string,
  attributesOf: (directory: Parameters<typeof writtenBy>[0]) => readonly string[],
): Promise<Json> {
  const directories = await listCachedDirectories(services.cache, tenant.id);
  if (directories.length === 0) return {};
  const found = (await services.database.read(tenant.id, (queries) => findDirectoriesOf(queries, tenant.id, [id]))).get(id);
  const directory = directories.find((one) => one.id === found);
  return directory === undefined ? {} : { directory: { id: directory.id, attributes: attributesOf(directory) } };
}
