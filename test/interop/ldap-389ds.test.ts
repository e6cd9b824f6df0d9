// 389 Directory Server, unmodified, as a source of people: `other`, by the entryUUID that its plug-in gives. Its own nsUniqueId stays with an entry
// too, but is no id_attribute: an instance made before version 1.4.3 needs the plug-in's fix-up task first.

import { tryDirectory } from '../support/directory-trial.ts';
import { hasDs389, startDs389 } from '../support/ds389.ts';

if (hasDs389())
  tryDirectory({
    name: '389 Directory Server',
    open: startDs389,
    fields: { kind: 'other' },
    person: ({ uid, cn, givenName, sn, mail }) => ({ objectClass: 'inetOrgPerson', uid, cn, givenName, sn, mail }),
    group: (cn, member) => ({ objectClass: 'groupOfNames', cn, member }),
    disabling: { nsAccountLock: { off: { nsAccountLock: 'TRUE' }, on: { nsAccountLock: [] } } },
    limits: true,
  });
