// Bytes and JSON as the protocol writes them.
package gatehouse.device

import java.security.MessageDigest
import java.util.Base64
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.longOrNull

/** Reads what a newer server or SDK wrote: members it does not know are ignored. */
internal val wireJson = Json {
    ignoreUnknownKeys = true
    explicitNulls = false
}

internal fun JsonObject.textOrNull(name: String): String? = (this[name] as? JsonPrimitive)?.contentOrNull

internal fun JsonObject.longOrNull(name: String): Long? = (this[name] as? JsonPrimitive)?.longOrNull

/** A member that the answer's shape promises. */
internal fun JsonObject.text(name: String): String = textOrNull(name) ?: error("expected $name in the answer, found $this")

/** Standard base64 with padding. */
internal fun toBase64(bytes: ByteArray): String = Base64.getEncoder().encodeToString(bytes)

/** Lower-case hex SHA-256. */
internal fun sha256Hex(bytes: ByteArray): String = MessageDigest.getInstance("SHA-256").digest(bytes).toHexString()

internal val KeySlot.publicKeySha256: String get() = sha256Hex(Base64.getDecoder().decode(publicKey))

internal val KeySlot.named: KeyToName get() = KeyToName(keyId, alg, publicKeySha256)
