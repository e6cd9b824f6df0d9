// The texts a phone signs: lines with LF between them, none at the end. Digests are lower-case hex SHA-256, so that building a text
// needs no cryptography. sdk/vectors binds these texts to those of the server.
package gatehouse.device

const val PROTOCOL_VERSION = "1"

/** One signed request: ten lines. */
fun requestText(
    issuer: String,
    call: CallToSign,
    timestamp: String,
    deviceId: String,
    keyId: String,
): String = lines(
    "GATEHOUSE-DEVICE-V1",
    call.protocolVersion,
    issuer,
    call.method,
    call.path,
    call.query,
    timestamp,
    deviceId,
    keyId,
    call.bodySha256,
)

/** What a request says, as it goes over the wire. */
data class CallToSign(
    val method: String,
    val path: String,
    val query: String,
    val bodySha256: String,
    val protocolVersion: String = PROTOCOL_VERSION,
)

/** What each new key signs at enrolment. */
fun enrollText(issuer: String, deviceId: String, keyId: String, publicKeySha256: String, challenge: String): String =
    lines("GATEHOUSE-ENROLL-V1", issuer, deviceId, keyId, publicKeySha256, challenge)

/** What each new key, and the old key of a uv slot, signs at rotation. */
fun rotateText(issuer: String, deviceId: String, nonce: String, key: KeyToName): String =
    lines("GATEHOUSE-KEY-ROTATE-V1", issuer, deviceId, key.keyId, nonce, key.alg, key.publicKeySha256)

/** A key as the texts name it. */
data class KeyToName(val keyId: String, val alg: String, val publicKeySha256: String)

/** What an app attestation covers: Play Integrity takes its hash as the nonce. */
fun attestationText(issuer: String, deviceId: String, challenge: String, keys: List<KeyToName>): String =
    lines("GATEHOUSE-ENROLL-V1", issuer, deviceId, challenge, *keys.map { "${it.keyId}:${it.publicKeySha256}" }.sorted().toTypedArray())

private fun lines(vararg parts: String): String = parts.joinToString("\n")
