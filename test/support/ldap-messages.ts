// Messages as a server of LDAP sends them (RFC 4511), made by hand, whether or not they may be.

export const ber = (tag: number, body: Buffer): Buffer => Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
export const text = (value: string): Buffer => Buffer.from(value);
export const octets = (value: string | Buffer): Buffer => ber(0x04, Buffer.from(value as string));

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return Buffer.concat([Buffer.from([0x84]), bytes]);
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return ber(0x02, bytes);
}

export const message = (id: number, operation: Buffer, controls: Buffer = Buffer.alloc(0)): Buffer =>
  ber(0x30, Buffer.concat([integer(id), operation, controls]));

export type Attributes = Readonly<Record<string, readonly (string | Buffer)[]>>;

export const entryMessage = (id: number, dn: string | Buffer, attributes: Attributes): Buffer =>
  message(
    id,
    ber(
      0x64,
      Buffer.concat([
        octets(dn),
        ber(
          0x30,
          Buffer.concat(
            Object.entries(attributes).map(([type, values]) =>
              ber(0x30, Buffer.concat([octets(type), ber(0x31, Buffer.concat(values.map(octets)))])),
            ),
          ),
        ),
      ]),
    ),
  );

/** A control of paged results (RFC 2696). */
export const pageControls = (cookie: Buffer): Buffer =>
  ber(0x30, Buffer.concat([octets('1.2.840.113556.1.4.319'), octets(ber(0x30, Buffer.concat([integer(0), octets(cookie)])))]));

const operations = { bind: 0x61, search: 0x65, extended: 0x78 } as const;

export const doneMessage = (
  id: number,
  code: number,
  said = '',
  { operation = 'search', cookie }: { readonly operation?: keyof typeof operations; readonly cookie?: Buffer } = {},
): Buffer =>
  message(
    id,
    ber(operations[operation], Buffer.concat([ber(0x0a, Buffer.from([code])), octets(''), octets(said)])),
    cookie === undefined ? Buffer.alloc(0) : ber(0xa0, pageControls(cookie)),
  );
