// Wizards that end with somebody signed in: other providers, SAML applications, tokens of directories. Each other side is a program of its
// own with its own pages (journeys/connections); what one page shows is typed into the other's, as people do.
import type { Administrator } from '../administrator.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../connections/openid-upstream.ts';
import { type HandedOverPage, type SamlApplication, startByHand, startByMetadata } from '../connections/saml-applications.ts';
import { startSamlUpstream } from '../connections/saml-upstream.ts';
import { provision } from '../connections/scim-client.ts';
import type { Task } from '../task.ts';
import { markOf, type Walker, type Way } from '../walker.ts';

/** Runs with somebody else at a browser of their own. */
async function withGuest<T>({ openGuest }: Administrator, way: Way, work: (guest: Walker) => Promise<T>): Promise<T> {
  const guest = await openGuest(way);
  try {
    return await work(guest);
  } finally {
    await guest.close();
  }
}

/** Opens the form of a new other provider, of the kind that the choice calls so. */
async function chooseKind({ press }: Walker, kind: string): Promise<void> {
  await press('Other providers');
  await press('New other provider');
  await press(kind);
}

const callbackOf = ({ reads }: Walker): Promise<string> => reads(/https?:\S+\/login\/callback\/\S+/);

/** What was made leaves the sign-in page again, for whoever comes after. */
async function forget({ call }: Administrator, name: string): Promise<void> {
  const { items } = (await call('GET', '/identity-providers?limit=200')) as { readonly items: readonly { id: string; name: string }[] }; // the API's shape
  for (const one of items.filter((provider) => provider.name === name)) await call('DELETE', `/identity-providers/${one.id}`);
}

/** The administrator registers us there, in another tab, by its own words; gives what its pages show then. */
async function registerThere({ manner, console: there }: OpenIdUpstream, tab: Walker, callback: string) {
  await tab.goto(there);
  await tab.press(manner.newClient);
  await tab.type(manner.redirectUri, callback);
  await tab.press(manner.create);
  if (manner.newSecret !== undefined) await tab.press(manner.newSecret);
  const shown = (name: string): Promise<string> => tab.reads(new RegExp(`${name.replaceAll(/[()]/g, '\\$&')}\\s*(\\S+)`));
  return { clientId: await shown(manner.clientId), secret: await shown(manner.secret), issuer: await shown('Issuer') };
}

async function signInThere({ press }: Walker, { manner }: OpenIdUpstream, name: string): Promise<void> {
  await press(name);
  if (manner.question !== undefined) await press(manner.question[1]);
}

/** Somebody nobody knows yet comes by the button; their account page says their name. */
async function comeBy(
  administrator: Administrator,
  way: Way,
  { provider, email, there }: { readonly provider: string; readonly email: string; readonly there: (guest: Walker) => Promise<void> },
  isTrusted: boolean,
): Promise<void> {
  await withGuest(administrator, way, async (guest) => {
    await guest.goto(`${administrator.baseUrl}/account`);
    await guest.press(`Continue with ${provider}`);
    await there(guest);
    if (!isTrusted) {
      await guest.type('Code', await administrator.mailedCode(email));
      await guest.enter();
    }
    if (guest.way === 'no script') await guest.press('Continue');
    await guest.sees(email);
  });
}

async function connectOpenId(walker: Walker, administrator: Administrator, kind: 'google' | 'microsoft'): Promise<void> {
  const { way, press, type, sees } = walker;
  const isTrusted = kind === 'google'; // it says that it has verified an address
  const mark = markOf(way);
  const name = `${kind === 'google' ? 'Globe Mail' : 'Contoso'} ${mark}`;
  const own = { name: 'Grace Hopper', email: `grace-${mark}@${kind}.example` };
  const person = { name: 'Katherine Johnson', email: `katherine-${mark}@${kind}.example` };
  const upstream = await startOpenIdUpstream(kind);
  for (const account of [own, person]) upstream.addAccount(account);
  try {
    await chooseKind(walker, 'Any OpenID provider');
    const callback = await callbackOf(walker);
    const given = await withGuest(administrator, way, (tab) => registerThere(upstream, tab, callback));
    await type('Name', name);
    await type('Issuer', given.issuer);
    await type('Client ID', given.clientId);
    await type('Client secret', given.secret);
    if (isTrusted) await press('Its verified emails count as verified');
    await press('Make accounts for people nobody knows yet');
    await press('Create, and try it');
    await sees(`People do not see ${name} yet.`);
    await press(`Sign in by ${name}`);
    await signInThere(walker, upstream, own.name);
    await sees('It works: this is what it says of you.');
    await sees(isTrusted ? 'email_verified' : 'preferred_username');
    await press('Show it to people');
    await sees(`${name} is on the sign-in page.`);
    const there = (guest: Walker): Promise<void> => signInThere(guest, upstream, person.name);
    await comeBy(administrator, way, { provider: name, email: person.email, there }, isTrusted);
  } finally {
    await forget(administrator, name);
    await upstream.close();
  }
}

async function connectSaml(walker: Walker, administrator: Administrator): Promise<void> {
  const { way, press, type, sees, reads } = walker;
  const mark = markOf(way);
  const name = `Initech ${mark}`;
  const [own, person] = [`grace-${mark}@initech.example`, `zora-${mark}@initech.example`];
  const upstream = await startSamlUpstream([own, person]);
  try {
    await chooseKind(walker, 'Any SAML provider');
    await type('Name', name);
    await type('Its metadata', upstream.metadata);
    await press('Its verified emails count as verified');
    await press('Make accounts for people nobody knows yet');
    await press('Create, and try it');
    const ours = await fetch(await reads(/https?:\S+\/login\/callback\/\S+\/metadata/));
    upstream.trust(await ours.text());
    await press(`Sign in by ${name}`);
    await upstream.signIn(walker, own);
    await sees('It works: this is what it says of you.');
    await press('Show it to people');
    await sees(`${name} is on the sign-in page.`);
    await comeBy(administrator, way, { provider: name, email: person, there: (guest) => upstream.signIn(guest, person) }, true);
  } finally {
    await forget(administrator, name);
    await upstream.close();
  }
}

/** What whoever runs an application copies from the page that was sent to them. */
const readHandedOver = async ({ reads }: Walker): Promise<HandedOverPage> => ({
  metadataUrl: await reads(/Metadata address\s*(\S+)/),
  entityId: await reads(/Entity ID, or Issuer\s*(\S+)/),
  ssoUrl: await reads(/Sign-in address, or SSO URL \(Redirect and POST\)\s*(\S+)/),
  certificate: await reads(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/),
});

const looksMax = 20;
const betweenLooksMs = 250;

/** Without scripts a page says what is new when it is asked. */
async function lookAgain({ page, press }: Walker, news: RegExp): Promise<void> {
  for (let look = 1; look <= looksMax && !(await page.getByText(news).isVisible()); look += 1) {
    await page.waitForTimeout(betweenLooksMs);
    await press('Look again');
  }
}

/** From the page "Give them these" on: the other administrator connects the application, somebody signs in to it, and both pages say so. */
async function handOver(walker: Walker, administrator: Administrator, application: SamlApplication, email: string): Promise<void> {
  const { way, reads, reload, sees } = walker;
  const link = await reads(/https?:\S+\/handed-over\/\S+/);
  await withGuest(administrator, way, async (other) => {
    await other.goto(link);
    await other.sees('Waiting for the first sign-in');
    await withGuest(administrator, way, async (tab) => application.connect(tab, await readHandedOver(other)));
    await withGuest(administrator, way, (person) => signInToApplication(administrator, person, application, email));
    const works = /^It works: somebody signed in to/;
    if (other.way === 'no script') await lookAgain(other, works);
    await other.sees(works);
  });
  await reload();
  await sees(/^It works: somebody signed in/);
}

async function signInToApplication(
  { mailedCode }: Administrator,
  person: Walker,
  { startUrl }: SamlApplication,
  email: string,
): Promise<void> {
  await person.goto(startUrl);
  await person.type(/email/i, email);
  await person.enter();
  await person.press(/^Email me a code/);
  await person.type('Code', await mailedCode(email));
  await person.enter();
  // Without scripts the answer is sent by hand, too.
  for (const name of person.way === 'no script' ? ['Continue', 'Continue'] : []) await person.press(name);
  await person.sees(email);
}

/** An application with metadata: brought in the way it is given, then handed over. */
async function importAndHandOver(
  walker: Walker,
  administrator: Administrator,
  email: string,
  give: (application: Awaited<ReturnType<typeof startByMetadata>>) => Promise<void>,
): Promise<void> {
  const application = await startByMetadata(`${administrator.baseUrl}/v1/idp/saml/metadata`);
  try {
    await walker.press('SAML applications');
    await walker.press('Import metadata');
    await give(application);
    await walker.sees(/was imported/);
    await handOver(walker, administrator, application, email);
  } finally {
    await application.close();
  }
}

const makePerson = async ({ call }: Administrator, email: string): Promise<void> =>
  void (await call('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }] }));

export const connectionTasks: readonly Task[] = [
  {
    name: 'Connect a Google-like provider; a person signs in by it',
    clicksMax: 10,
    walk: (walker, _given, administrator) => connectOpenId(walker, administrator, 'google'),
  },
  {
    name: 'Connect a Microsoft-like provider; a person signs in by it',
    clicksMax: 10,
    walk: (walker, _given, administrator) => connectOpenId(walker, administrator, 'microsoft'),
  },
  {
    name: 'Connect a company by SAML; a person signs in by it',
    clicksMax: 11,
    walk: (walker, _given, administrator) => connectSaml(walker, administrator),
  },
  {
    name: 'Hand a SAML application over by its metadata; a person signs in to it',
    clicksMax: 4,
    prepare: async (administrator, way) => {
      const email = `wiki-${markOf(way)}@people.example`;
      await makePerson(administrator, email);
      return email;
    },
    walk: (walker, email, administrator) =>
      importAndHandOver(walker, administrator, email, async ({ metadataUrl }) => {
        await walker.type('Or its text', await (await fetch(metadataUrl)).text());
        await walker.press('Import');
        await walker.press('Add it');
      }),
  },
  {
    name: 'A SAML application by the address of its metadata; a person signs in',
    clicksMax: 6,
    prepare: async (administrator, way) => {
      const email = `addressed-${markOf(way)}@people.example`;
      await makePerson(administrator, email);
      return email;
    },
    walk: (walker, email, administrator) =>
      importAndHandOver(walker, administrator, email, async ({ metadataUrl, entityId, acsUrl }) => {
        const { press, type, sees } = walker;
        await type('Its address', new URL('/no-such-page', metadataUrl).href);
        await press('Import');
        await sees(/^The host answered \d{3}/);
        await type('Its address', metadataUrl);
        await press('Import');
        await sees('Nothing is saved yet. This is what the application says of itself.');
        for (const said of [entityId, acsUrl]) await sees(said);
        await press('Add it');
      }),
  },
  {
    name: 'Hand a SAML application over by hand; a person signs in to it',
    clicksMax: 4,
    prepare: async (administrator, way) => {
      const email = `payroll-${markOf(way)}@people.example`;
      await makePerson(administrator, email);
      return email;
    },
    walk: async (walker, email, administrator) => {
      const application = await startByHand();
      try {
        await walker.press('SAML applications');
        await walker.press('New SAML application');
        await walker.type('Entity ID', application.entityId);
        await walker.type('Name', `Payroll ${markOf(walker.way)}`);
        await walker.type('Address (https)', application.acsUrl);
        await walker.press('Create');
        await walker.sees(/was created/);
        await handOver(walker, administrator, application, email);
      } finally {
        await application.close();
      }
    },
  },
  {
    name: 'A token for a directory: used, seen, revoked',
    clicksMax: 5,
    walk: async ({ way, press, type, choose, reads, sees, reload }) => {
      const name = `Okta ${markOf(way)}`;
      const email = `provisioned-${markOf(way)}@directory.example`;
      await press('Directories');
      await type('Name of the directory', name);
      await choose('It lives', 'Without end');
      await press('New token');
      await sees('The token was made, and it works.');
      const row = new RegExp(`${name}[^]*?(?=Revoke…)`);
      const [base, token, unused] = [await reads(/https?:\S+\/scim\/v2/), await reads(/ghscim_\S+/), await reads(row)];
      if (!/never\s+never/.test(unused)) throw new Error(`expected a token without end that nobody has used, found ${unused}`);
      await provision(base, token, email);
      await reload();
      const used = await reads(row);
      if (/never\s+never/.test(used)) throw new Error(`expected when the token was used, found ${used}`);
      await press(`Revoke… ${name}`);
      await press('Revoke');
      await sees('The token was revoked.');
      const refused = await provision(base, token, email).then(
        () => undefined,
        (error) => String(error),
      );
      if (refused === undefined) throw new Error('expected the revoked token to be refused');
    },
  },
  {
    name: 'An issuer nobody can reach is told at once, and changed there',
    clicksMax: 7,
    walk: async (walker, _given, administrator) => {
      const { press, type, sees, way } = walker;
      const name = `Mistyped ${markOf(way)}`;
      const upstream = await startOpenIdUpstream('google');
      try {
        await chooseKind(walker, 'Any OpenID provider');
        await type('Name', name);
        await type('Issuer', 'https://10.1.2.3');
        await type('Client ID', 'gatehouse');
        await type('Client secret', 'secret-of-gatehouse');
        await press('Create, and try it');
        await sees(/The address is not public\. The operator of this server can allow it \(GATEHOUSE_EGRESS_ALLOW\)/);
        await type('Issuer', upstream.issuer.replace(/\d+$/, '1'));
        await type('Client secret', 'secret-of-gatehouse');
        await press('Save, and look again');
        await sees(/The host could not be reached/);
        await type('Issuer', upstream.issuer);
        await type('Client secret', 'secret-of-gatehouse');
        await press('Save, and look again');
        await sees('answers');
      } finally {
        await forget(administrator, name);
        await upstream.close();
      }
    },
  },
];
