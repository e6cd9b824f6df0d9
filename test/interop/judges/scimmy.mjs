// A SCIM service as SCIMMY's documents say to make one, on the port of the first argument: SCIMMY says what a request means, this keeps it
// in memory. A userName that is taken is refused.
import { randomUUID } from 'node:crypto';
import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';

function keep(resource, uniqueName) {
  const kept = new Map();
  const idsByName = new Map();
  const found = (id) => kept.get(id) ?? raise(404, null, `Resource ${id} not found`);
  const nameOf = (one) => (uniqueName === undefined ? undefined : String(one[uniqueName]).toLowerCase());
  /** What a filter has to look at: one, when it asks for a name alone. */
  const among = ([first, ...others]) => {
    const [comparison, name] = first?.[uniqueName] ?? [];
    if (comparison !== 'eq' || others.length > 0) return [...kept.values()];
    const id = idsByName.get(String(name).toLowerCase());
    return id === undefined ? [] : [kept.get(id)];
  };
  SCIMMY.Resources.declare(resource)
    .ingress(({ id = randomUUID() }, given) => {
      const data = JSON.parse(JSON.stringify(given));
      const name = nameOf(data);
      if (name !== undefined && (idsByName.get(name) ?? id) !== id) raise(409, 'uniqueness', `${uniqueName} is taken`);
      if (kept.has(id)) idsByName.delete(nameOf(kept.get(id)));
      if (name !== undefined) idsByName.set(name, id);
      kept.set(id, { ...data, id });
      return kept.get(id);
    })
    .egress(({ id, filter }) => {
      if (id !== undefined) return found(id);
      return filter === undefined ? [...kept.values()] : filter.match(among(filter));
    })
    .degress(({ id }) => {
      idsByName.delete(nameOf(found(id)));
      kept.delete(id);
    });
}

function raise(status, type, detail) {
  throw new SCIMMY.Types.Error(status, type, detail);
}

keep(SCIMMY.Resources.User, 'userName');
keep(SCIMMY.Resources.Group);
SCIMMY.Resources.User.extend(SCIMMY.Schemas.EnterpriseUser);
const handler = (request) => (request.header('authorization') === 'Bearer judged' ? 'gatehouse' : raise(401, null, 'No token'));
const app = express();
app.use('/v2', new SCIMMYRouters({ type: 'bearer', handler }));
app.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));
