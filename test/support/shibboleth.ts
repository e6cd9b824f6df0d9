// Debian's Shibboleth service provider: shibd and Apache with mod_shib on a free loopback port, with two applications, one that
// signs its requests and one that does not. Policies and protocols are the files Debian ships; its attribute map has these two commented out.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasApacheModule, startApache } from './apache.ts';
import { freePort } from './free-port.ts';
import { certificatePem, type RsaKeys } from './rsa-keys.ts';
import type { SamlWebsite, Websites } from './saml-website.ts';
import { orClose, startWebProgram } from './web-program.ts';

export const hasShibboleth = (): boolean => hasApacheModule('shib', 'shibboleth');

const applications = ['signed', 'unsigned'] as const;
const bindings = { redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST' };

/** Starts both; they trust the identity provider of this metadata, of this entityID. */
export async function startShibboleth(keys: RsaKeys, idp: { readonly entityId: string; readonly metadata: string }): Promise<Websites> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-shibboleth-'));
  chmodSync(folder, 0o755); // Apache serves as another user
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text, { mode: 0o644 });
  write('sp-key.pem', keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  write('sp-cert.pem', await certificatePem(keys));
  write('shibd.logger', loggerTo(join(folder, 'shibd.log')));
  write('native.logger', loggerTo(join(folder, 'native.log')));
  write('attribute-map.xml', attributeMap);
  let written = 0;
  const give = (name: string, metadata: string): void => {
    write(`idp-${name}.xml`, metadata);
    written += 1;
    utimesSync(join(folder, `idp-${name}.xml`), new Date(), Date.now() / 1000 + written); // it reads anew what has another second
  };
  for (const name of applications) {
    give(name, idp.metadata);
    mkdirSync(join(folder, name), { mode: 0o755 });
    write(
      `${name}/page.shtml`,
      'signed in as <!--#echo var="REMOTE_USER" -->, <!--#echo var="displayName" -->, <!--#echo var="scopedAffiliation" -->, <!--#echo var="awsRole" -->',
    );
  }
  write('shibboleth2.xml', configuration(folder, url, idp.entityId));
  const socket = join(folder, 'shibd.sock');
  const command = ['/usr/sbin/shibd', '-F', '-f', '-c', join(folder, 'shibboleth2.xml'), '-p', join(folder, 'shibd.pid')];
  const log = join(folder, 'shibd.log');
  const shibd = await startWebProgram(socket, command, { log });
  const directives = [`ShibConfig ${folder}/shibboleth2.xml`, ...applications.flatMap(locationOf)];
  const ready = '/signed/Shibboleth.sso/Metadata';
  const apache = await orClose(shibd, () => startApache({ folder, port, module: 'shib', directives, ready }));
  const website = (name: (typeof applications)[number]): SamlWebsite => ({
    metadataUrl: `${url}/${name}/Shibboleth.sso/Metadata`,
    startUrl: (binding) => `${url}/${name}/Shibboleth.sso/${binding}?target=${encodeURIComponent(`${url}/${name}/page.shtml`)}`,
    trust: async (metadata) => {
      const timesRead = (): number => readFileSync(log, 'utf8').split(`loaded XML resource (${folder}/idp-${name}.xml)`).length;
      const before = timesRead();
      give(name, metadata);
      await fetch(await website(name).startUrl('redirect'), { redirect: 'manual' }); // it looks at the file when it needs it
      for (let attempt = 0; timesRead() === before; attempt += 1) {
        assert.ok(attempt < 3000, readFileSync(log, 'utf8'));
        await new Promise((resolve) => setTimeout(resolve, 20)); // and reads it in a thread of its own
      }
    },
  });
  return {
    signed: website('signed'),
    unsigned: website('unsigned'),
    close: async () => {
      await apache.close();
      await shibd.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const loggerTo = (file: string): string =>
  [
    'log4j.rootCategory=INFO, file',
    'log4j.appender.file=org.apache.log4j.FileAppender',
    `log4j.appender.file.fileName=${file}`,
    'log4j.appender.file.layout=org.apache.log4j.PatternLayout',
    'log4j.appender.file.layout.ConversionPattern=%p %c: %m%n\n',
  ].join('\n');

const attributeMap = `
<Attributes xmlns="urn:mace:shibboleth:2.0:attribute-map">
  <Attribute name="urn:oid:0.9.2342.19200300.100.1.3" id="mail"/>
  <Attribute name="urn:oid:2.16.840.1.113730.3.1.241" id="displayName"/>
  <Attribute name="urn:oid:1.3.6.1.4.1.5923.1.1.1.9" id="scopedAffiliation"/>
  <Attribute name="https://aws.amazon.com/SAML/Attributes/Role" nameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri" id="awsRole"/>
</Attributes>`;

const locationOf = (name: string): string[] => [
  `<Location /${name}>`,
  'AuthType shibboleth',
  `ShibRequestSetting applicationId ${name === 'signed' ? 'default' : name}`,
  'ShibRequestSetting requireSession false',
  'Require shibboleth',
  '</Location>',
];

function configuration(folder: string, url: string, idpEntityId: string): string {
  const settings = (name: string): string =>
    `entityID="${url}/${name}" homeURL="${url}/${name}/page.shtml" REMOTE_USER="mail" signing="${name === 'signed'}" encryption="false"`;
  const content = (name: string): string => `
    <Sessions lifetime="28800" timeout="3600" checkAddress="false" handlerURL="/${name}/Shibboleth.sso" handlerSSL="false" cookieProps="http" relayState="ss:mem">
      ${Object.entries(bindings)
        .map(
          ([id, uri]) =>
            `<SessionInitiator type="SAML2" Location="/${id}" id="${id}-${name}" entityID="${idpEntityId}" outgoingBindings="${uri}"/>`,
        )
        .join('')}
      <md:AssertionConsumerService Location="/SAML2/POST" index="1" Binding="${bindings.post}"/>
      <Handler type="MetadataGenerator" Location="/Metadata" signing="false"/>
    </Sessions>
    <MetadataProvider type="XML" path="${folder}/idp-${name}.xml"/>`;
  return `
<SPConfig xmlns="urn:mace:shibboleth:3.0:native:sp:config" xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" clockSkew="180">
  <OutOfProcess logger="${folder}/shibd.logger"/>
  <InProcess logger="${folder}/native.logger"/>
  <UnixListener address="${folder}/shibd.sock"/>
  <StorageService type="Memory" id="mem"/>
  <SessionCache type="StorageService" StorageService="mem"/>
  <ReplayCache StorageService="mem"/>
  <RequestMapper type="Native"><RequestMap/></RequestMapper>
  <ApplicationDefaults ${settings('signed')}>
    ${content('signed')}
    <AttributeExtractor type="XML" path="${folder}/attribute-map.xml"/>
    <AttributeFilter type="XML" path="/etc/shibboleth/attribute-policy.xml"/>
    <CredentialResolver type="File" key="${folder}/sp-key.pem" certificate="${folder}/sp-cert.pem"/>
    <ApplicationOverride id="unsigned" ${settings('unsigned')}>${content('unsigned')}</ApplicationOverride>
  </ApplicationDefaults>
  <SecurityPolicyProvider type="XML" path="/etc/shibboleth/security-policy.xml"/>
  <ProtocolProvider type="XML" path="/etc/shibboleth/protocols.xml"/>
</SPConfig>`;
}
