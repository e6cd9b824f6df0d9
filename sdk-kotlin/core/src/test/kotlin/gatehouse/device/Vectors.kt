// sdk/vectors, which the TypeScript SDK and the server are tested with too.
package gatehouse.device

import java.io.File
import java.security.KeyFactory
import java.security.Signature
import java.security.SignatureException
import java.security.spec.X509EncodedKeySpec
import java.util.Base64
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject

fun vectorsOf(file: String): JsonObject = Json.parseToJsonElement(File("../../sdk/vectors/$file").readText()).jsonObject

fun JsonObject.cases(): List<JsonObject> = getValue("cases").jsonArray.map { it.jsonObject }

fun base64(text: String): ByteArray = Base64.getDecoder().decode(text)

/** Whether a signature as the protocol writes it is of that key: ES256 of 64 bytes or DER, EdDSA of 64 bytes. */
fun verifies(alg: String, publicKey: String, text: String, signature: ByteArray): Boolean {
    if (alg == "EdDSA" && signature.size != 64) return false // Java looks at the first 64
    val (keys, signatures) = when (alg) {
        "ES256" -> "EC" to if (signature.size == 64) "SHA256withECDSAinP1363Format" else "SHA256withECDSA"
        "EdDSA" -> "Ed25519" to "Ed25519"
        else -> "RSA" to "SHA256withRSA"
    }
    val key = KeyFactory.getInstance(keys).generatePublic(X509EncodedKeySpec(base64(publicKey)))
    return Signature.getInstance(signatures).run {
        initVerify(key)
        update(text.toByteArray())
        try {
            verify(signature)
        } catch (_: SignatureException) {
            false // not even the form of one
        }
    }
}
