// A service provider made of samlify, asked one JSON line at a time on standard input. It knows the identity provider by its
// metadata alone. A process of its own, like those in other languages: its types bring a browser's into whoever imports them.
import { createInterface } from 'node:readline';
import { Constants, IdentityProvider, ServiceProvider, setSchemaValidator } from 'samlify';

setSchemaValidator({ validate: async () => 'no schema is checked' });
let sp;
let idp;
let encrypt = false;

const answers = {
  start: (command) => {
    encrypt = command.encrypt;
    sp = ServiceProvider({
      entityID: command.entity_id,
      authnRequestsSigned: command.sign,
      wantAssertionsSigned: true,
      wantMessageSigned: true,
      nameIDFormat: [Constants.namespace.format.persistent],
      assertionConsumerService: [{ Binding: Constants.namespace.binding.post, Location: command.acs_url }],
      ...(command.sign ? signingOf(command) : {}),
      ...(encrypt ? { encPrivateKey: command.private_key, encryptCert: command.certificate, isAssertionEncrypted: true } : {}),
    });
    return {};
  },
  metadata: () => ({ metadata: sp.getMetadata() }),
  trust: ({ metadata }) => {
    idp = IdentityProvider({ metadata, isAssertionEncrypted: encrypt, messageSigningOrder: 'encrypt-then-sign' });
    return {};
  },
  request: ({ binding, relay_state: relayState }) => {
    const { id, context } = sp.createLoginRequest(idp, binding, { relayState });
    if (binding === 'redirect') return { id, location: context, form: '' };
    const field = (name, value) => `<input name="${name}" value="${value}">`;
    return { id, location: '', form: field('SAMLRequest', context) + field('RelayState', relayState) };
  },
  consume: async ({ response, request_id: requestId }) => {
    const { extract } = await sp.parseLoginResponse(idp, 'post', { body: { SAMLResponse: response } });
    if (requestId !== '' && extract.response.inResponseTo !== requestId) throw new Error('an answer to another request');
    return { name_id: extract.nameID, attributes: extract.attributes };
  },
};

// Where its own documentation puts the signature of a POST request.
function signingOf(command) {
  const reference = "/*[local-name(.)='AuthnRequest']/*[local-name(.)='Issuer']";
  return {
    privateKey: command.private_key,
    signingCert: command.certificate,
    requestSignatureAlgorithm: Constants.algorithms.signature.RSA_SHA256,
    signatureConfig: { prefix: 'ds', location: { reference, action: 'after' } },
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    answer = await answers[command.do](command);
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
