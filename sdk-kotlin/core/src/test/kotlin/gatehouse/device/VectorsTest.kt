// The texts this SDK signs are those of sdk/vectors, its signatures verify, and what the vectors call wrong does not.
package gatehouse.device

import gatehouse.device.jvm.SoftwareAlgorithm
import gatehouse.device.jvm.SoftwareKey
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

class VectorsTest {
    private val requests = vectorsOf("requests.json")

    // WebAuthn credentials are of browsers; no phone with this SDK has one.
    private val proofs = vectorsOf("proofs.json").cases().filter { it.text("kind") != "webauthn" }

    @Test
    fun `there are enough of them, good and bad`() {
        assertTrue(requests.cases().size >= 87)
        assertTrue(requests.cases().count { it.text("expect") == "bad_signature" } > 20)
        assertTrue(proofs.size >= 33)
        assertTrue(proofs.count { it.text("expect") == "invalid" } > 20)
    }

    @TestFactory
    fun requests(): List<DynamicTest> = requests.cases().map { vector ->
        dynamicTest("${vector.text("name")}: ${vector.text("expect")}") {
            val text = textOf(vector.getValue("request").jsonObject)
            assertEquals(vector.text("signed_text"), text)
            // Header rules and replay are the server's business; the signature itself is good in those cases.
            if (vector.text("expect") == "bad_signed_headers") return@dynamicTest
            val alg = vector.text("alg")
            val isGood = verifies(alg, keysOf(alg).text("public_key"), text, base64(vector.text("signature")))
            assertEquals(vector.text("expect") != "bad_signature", isGood)
        }
    }

    @TestFactory
    fun proofs(): List<DynamicTest> = proofs.map { vector ->
        dynamicTest("${vector.text("name")}: ${vector.text("expect")}") {
            val isValid = vector.text("expect") == "valid"
            val signature = vector.textOrNull("signature")
            val text = proofText(vector)
            // A vector without a signature is judged by its text.
            assertEquals(isValid || signature != null, text == vector.text("text"))
            if (signature == null) return@dynamicTest
            val key = vector.getValue("fields").jsonObject.text("public_key")
            assertEquals(isValid, verifies(vector.text("alg"), key, text, base64(signature)))
        }
    }

    @TestFactory
    fun `signatures of this SDK`(): List<DynamicTest> = SoftwareAlgorithm.entries.map { algorithm ->
        dynamicTest("${algorithm.text} verifies, and of another text does not") {
            val keys = keysOf(algorithm.text)
            val signature = SoftwareKey(algorithm, keys.text("private_key")).sign("text".toByteArray())
            assertTrue(verifies(algorithm.text, keys.text("public_key"), "text", signature))
            assertTrue(!verifies(algorithm.text, keys.text("public_key"), "Text", signature))
        }
    }

    private fun keysOf(alg: String): JsonObject = requests.getValue("keys").jsonObject.getValue(alg).jsonObject

    private fun textOf(request: JsonObject): String {
        val digest = sha256Hex(request.text("body").toByteArray())
        val call = CallToSign(request.text("method"), request.text("path"), request.text("query"), digest, request.text("protocol_version"))
        return requestText(request.text("issuer"), call, request.text("timestamp"), request.text("device_id"), request.text("key_id"))
    }

    private fun proofText(vector: JsonObject): String {
        val fields = vector.getValue("fields").jsonObject
        val (issuer, deviceId) = fields.text("issuer") to fields.text("device_id")
        return when (vector.text("kind")) {
            "enroll" -> enrollText(issuer, deviceId, fields.text("key_id"), digestOf(fields), fields.text("challenge"))
            "rotate" -> rotateText(issuer, deviceId, fields.text("nonce"), KeyToName(fields.text("key_id"), vector.text("alg"), digestOf(fields)))
            else -> {
                val keys = fields.getValue("keys").jsonArray.map { it.jsonObject }.map { KeyToName(it.text("key_id"), "", digestOf(it)) }
                attestationText(issuer, deviceId, fields.text("challenge"), keys)
            }
        }
    }

    private fun digestOf(fields: JsonObject): String = sha256Hex(base64(fields.text("public_key")))
}
