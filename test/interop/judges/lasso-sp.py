# A service provider on lasso, the engine of mod_auth_mellon. Reads one JSON object per line, answers one per line.
#   {"do": "request", "binding": "redirect"|"post", "relay_state": s} -> {"url": ..., "body": ...}
#   {"do": "response", "saml_response": base64}                   -> {"name_id", "format", "attributes", "in_response_to"} or {"error"}
# Arguments: a folder with sp-key.pem, sp-cert.pem, sp-metadata.xml, idp-metadata.xml; and "encrypted" to own a decryption key.
import json
import sys

import lasso

folder = sys.argv[1]
encrypted = len(sys.argv) > 2 and sys.argv[2] == 'encrypted'
server = lasso.Server(folder + '/sp-metadata.xml', folder + '/sp-key.pem', None, folder + '/sp-cert.pem')
server.signatureMethod = lasso.SIGNATURE_METHOD_RSA_SHA256
if encrypted:
    server.setEncryptionPrivateKey(folder + '/sp-key.pem')
server.addProvider(lasso.PROVIDER_ROLE_IDP, folder + '/idp-metadata.xml', None, None)
login = None


def request(command):
    global login
    login = lasso.Login(server)
    method = lasso.HTTP_METHOD_REDIRECT if command['binding'] == 'redirect' else lasso.HTTP_METHOD_POST
    login.initAuthnRequest(list(server.providers.keys())[0], method)
    login.request.nameIDPolicy.format = lasso.SAML2_NAME_IDENTIFIER_FORMAT_PERSISTENT
    login.request.nameIDPolicy.allowCreate = True
    login.request.protocolBinding = lasso.SAML2_METADATA_BINDING_POST
    if command.get('relay_state'):
        login.msgRelayState = command['relay_state']
    login.buildAuthnRequestMsg()
    return {'url': login.msgUrl, 'body': login.msgBody}


def response(command):
    login.processAuthnResponseMsg(command['saml_response'])
    login.acceptSso()
    assertion = login.assertion
    attributes = {}
    for statement in assertion.attributeStatement or []:
        for attribute in statement.attribute or []:
            values = attributes.setdefault(attribute.name, [])
            for value in attribute.attributeValue or []:
                values.append(''.join(node.content for node in value.any or [] if getattr(node, 'content', None) is not None))
    confirmation = assertion.subject.subjectConfirmation.subjectConfirmationData
    name_id = assertion.subject.nameID
    return {
        'name_id': name_id.content,
        'format': name_id.format,
        'sp_name_qualifier': name_id.spNameQualifier,
        'attributes': attributes,
        'in_response_to': confirmation.inResponseTo,
    }


for line in sys.stdin:
    command = json.loads(line)
    try:
        answer = {'request': request, 'response': response}[command['do']](command)
    except lasso.Error as error:
        answer = {'error': type(error).__name__}
    print(json.dumps(answer), flush=True)
