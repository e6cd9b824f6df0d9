// Plays the network in tests of the channel and the accounts: one function that answers, every request noted.
package gatehouse.device

import gatehouse.device.jvm.SoftwareKey
import gatehouse.device.jvm.SoftwareVault
import java.io.IOException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonObject

const val BASE_URL = "https://id.example/t/acme"

class Asked(val path: String, val deviceId: String, val timestamp: Long, val body: JsonObject?)

/** `null` from the function is silence. */
class Answering(private val baseUrl: String = BASE_URL, var answer: (Asked) -> Pair<Int, String>?) : Transport {
    val asked = mutableListOf<Asked>()
    var retryAfter: String? = null

    override fun exchange(call: HttpCall): HttpAnswer {
        val path = call.url.removePrefix("$baseUrl/v1/device")
        val said = Asked(
            path,
            call.headers.getValue("X-Device-Id"),
            call.headers.getValue("X-Timestamp").toLong(),
            call.body?.let { Json.parseToJsonElement(it.decodeToString()).jsonObject },
        )
        asked += said
        val (status, body) = answer(said) ?: throw IOException("silence")
        return HttpAnswer(status, retryAfter, body.toByteArray())
    }
}

/** What a server answers to a phone with which nothing goes wrong. */
fun kindly(asked: Asked): Pair<Int, String> = when (asked.path) {
    "/enrollment/redeem" -> 200 to """{"registration_token":"r","status":"verified","expires_at":"later","attestation":{"challenge":"c"}}"""
    "/enroll" -> 201 to """{"device_id":"${asked.deviceId}","user":{"of":"${asked.deviceId}"}}"""
    "/self" -> 200 to """{"device_id":"${asked.deviceId}","user":{"of":"${asked.deviceId}"}}"""
    "/approvals?state=pending" -> 200 to """{"items":[]}"""
    else -> 404 to """{"error":"not_found","message":"No."}"""
}

fun refusal(status: Int, error: String, more: String = ""): Pair<Int, String> = status to """{"error":"$error","message":"No."$more}"""

/** A phone's storage, and its processes. */
class Pocket {
    val store = MemoryStore<PhoneState>()
    val keys = MemoryStore<Map<String, SoftwareKey>>()
    val pauses = mutableListOf<Long>()
    var nowMs = 1_767_225_600_000

    fun open(transport: Transport, account: String? = null, baseUrl: String = BASE_URL): Device =
        Device(baseUrl, store, SoftwareVault(keys), transport, account = account, now = { nowMs }, pause = { pauses += it })

    /** Enrols a person by a link. */
    fun enrolled(transport: Transport, baseUrl: String = BASE_URL): Device = open(transport, baseUrl = baseUrl).apply {
        redeemEnrollment("t", DeviceDescription("android", "Phone"))
        enroll()
    }
}
