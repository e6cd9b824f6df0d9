// A SCIM service as SCIMMY's documents say to make one, on the port of the first argument: SCIMMY says what a request means, this keeps it
// in memory. A userName that is taken is refused.
import { randomUUID } from 'node:crypto';
import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';

function keep(resource, uniqueName) {
  const kept = new Map();
  const found = (id) => kept.get(id) ?? raise(404, null, `Resource ${id} not found`);
  SCIMMY.Resources.declare(resource)
    .ingress(({ id = randomUUID() }, given) => {
      const data = JSON.parse(JSON.stringify(given));
      if ([...kept.values()].some((one) => uniqueName !== undefined && one.id !== id && one[uniqueName] === data[uniqueName]))
        raise(409, 'uniqueness', `${uniqueName} is taken`);
      kept.set(id, { ...data, id });
      return kept.get(id);
    })
    .egress(({ id, filter }) => {
      if (id !== undefined) return found(id);
      return filter === undefined ? [...kept.values()] : filter.match([...kept.values()]);
    })
    .degress(({ id }) => kept.delete(found(id).id));
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
