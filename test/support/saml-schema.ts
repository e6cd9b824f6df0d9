// Validates XML against the OASIS SAML 2.0 schemas with xmllint, off the network: the schemas of Debian's opensaml-schemas
// and xmltooling-schemas, and a catalog for the w3.org addresses they import.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findJudge } from './judge-binaries.ts';

const opensaml = '/usr/share/xml/opensaml';
const xmltooling = '/usr/share/xml/xmltooling';
const catalog =
  '<?xml version="1.0"?><catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">' +
  [
    ['http://www.w3.org/TR/2002/REC-xmldsig-core-20020212/xmldsig-core-schema.xsd', 'xmldsig-core-schema.xsd'],
    ['http://www.w3.org/TR/2002/REC-xmlenc-core-20021210/xenc-schema.xsd', 'xenc-schema.xsd'],
    ['http://www.w3.org/2001/xml.xsd', 'xml.xsd'],
  ]
    .map(
      ([address, file]) =>
        `<system systemId="${address}" uri="${xmltooling}/${file}"/><uri name="${address}" uri="${xmltooling}/${file}"/>`,
    )
    .join('') +
  '</catalog>';

/** Gives xmllint's complaints ('' when valid) about a document under the protocol or metadata schema. */
export type SchemaJudge = (xml: string, schema: 'protocol' | 'metadata') => string;

/** Undefined where xmllint or the schemas are not installed; throws when GATEHOUSE_TEST_REQUIRE names xmllint. */
export function openSchemaJudge(): SchemaJudge | undefined {
  const program = findJudge('xmllint');
  if (program === undefined) return undefined;
  if (!existsSync(`${opensaml}/saml-schema-protocol-2.0.xsd`) || !existsSync(`${xmltooling}/xenc-schema.xsd`)) {
    if ((process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').includes('xmllint'))
      throw new Error('opensaml-schemas and xmltooling-schemas are not installed');
    return undefined;
  }
  return (xml, schema) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-schema-'));
    try {
      writeFileSync(join(folder, 'catalog.xml'), catalog);
      writeFileSync(join(folder, 'in.xml'), xml);
      const done = spawnSync(program, ['--nonet', '--noout', '--schema', `${opensaml}/saml-schema-${schema}-2.0.xsd`, 'in.xml'], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, XML_CATALOG_FILES: join(folder, 'catalog.xml') },
      });
      return done.status === 0 ? '' : done.stderr;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}
