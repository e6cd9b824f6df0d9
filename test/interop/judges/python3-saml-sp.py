# A service provider made of python3-saml, asked one JSON line at a time on standard input. It knows the identity provider by
# its metadata alone. Runs in the environment that scripts/install-judges makes.
import json
import sys
from urllib.parse import parse_qs, urlparse

from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser
from onelogin.saml2.settings import OneLogin_Saml2_Settings

settings = {}
acs = ""


def pem_body(pem):
    return "".join(line for line in pem.splitlines() if not line.startswith("-----"))


def start(c):
    global acs
    acs = c["acs_url"]
    sp = {
        "entityId": c["entity_id"],
        "assertionConsumerService": {"url": acs, "binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"},
        "NameIDFormat": "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    }
    if c["sign"] or c["encrypt"]:
        sp["x509cert"] = pem_body(c["certificate"])
        sp["privateKey"] = pem_body(c["private_key"])
    settings.update(
        strict=True,
        sp=sp,
        security={
            "authnRequestsSigned": c["sign"],
            "wantAssertionsEncrypted": c["encrypt"],
            "wantAssertionsSigned": True,
            "wantMessagesSigned": True,
            "signatureAlgorithm": c.get("signature_algorithm", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
        },
    )
    return {}


def metadata(_c):
    text = OneLogin_Saml2_Settings(settings, sp_validation_only=True).get_sp_metadata()
    return {"metadata": text.decode() if isinstance(text, bytes) else text}


def trust(c):
    parsed = OneLogin_Saml2_IdPMetadataParser.parse(c["metadata"])
    settings["idp"] = parsed["idp"]
    return {}


def request(c):
    auth = OneLogin_Saml2_Auth(request_data({}), settings)
    location = auth.login(return_to=c["relay_state"])
    return {"location": location, "form": "", "id": auth.get_last_request_id()}


def consume(c):
    auth = OneLogin_Saml2_Auth(request_data({"SAMLResponse": c["response"]}), settings)
    auth.process_response(request_id=c["request_id"] or None)
    if auth.get_errors():
        raise ValueError("%s: %s" % (auth.get_errors(), auth.get_last_error_reason()))
    return {"name_id": auth.get_nameid(), "attributes": auth.get_attributes()}


def request_data(post):
    at = urlparse(acs)
    return {"https": "on" if at.scheme == "https" else "off", "http_host": at.netloc, "script_name": at.path, "get_data": parse_qs(at.query), "post_data": post}


answers = {"start": start, "metadata": metadata, "trust": trust, "request": request, "consume": consume}
for line in sys.stdin:
    command = json.loads(line)
    try:
        answer = answers[command["do"]](command)
    except Exception as error:  # whatever the library refuses with is the answer
        answer = {"error": "%s: %s" % (type(error).__name__, error)}
    print(json.dumps(answer), flush=True)
