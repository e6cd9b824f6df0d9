// Sends signed requests and reacts to what concerns every call: repeats what was not answered, corrects the clock once, keeps the notice
// of a forced update. Knows no endpoint.
package gatehouse.device

import java.io.IOException
import java.util.concurrent.atomic.AtomicLong
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

const val SDK_VERSION = "0.2.0"

class Answer(val status: Int, val body: JsonObject)

/**
 * A call below the issuer, such as `/v1/device/self`. `slot` signs instead of the stored one of the purpose; `isOnce`: never repeated,
 * because what it asks for may not happen twice.
 */
data class Call(
    val method: String,
    val path: String,
    val query: String = "",
    val body: String? = null,
    val purpose: KeyPurpose = KeyPurpose.POP,
    val slot: KeySlot? = null,
    val isOnce: Boolean = false,
)

/** `now` is phone time in milliseconds since the epoch. */
internal class SignedChannel(
    private val baseUrl: String,
    private val vault: KeyVault,
    private val transport: Transport,
    private val now: () -> Long,
    private val pause: (milliseconds: Long) -> Unit,
) {
    private val lastTimestamp = AtomicLong()

    /** The answer of a success; throws DeviceException for a refusal and NoAnswerException for silence. */
    fun send(memory: Memory, signer: Signer, call: Call): Answer {
        demandNoNotice(memory)
        var isUnknown = false
        var isCorrected = false
        var repetition = 0
        while (true) {
            try {
                return sendOnce(memory, signer, call)
            } catch (failure: Exception) {
                if (!isCorrected && failure.isRefusal("clock_skew")) {
                    isCorrected = true // refused before anything was looked at: no repetition of an effect
                    continue
                }
                val waitMs = if (call.isOnce || repetition == REPETITIONS_MAX) null else pauseBefore(failure, repetition)
                if (waitMs == null) throw if (failure is DeviceException) DeviceException(failure.status, failure.body, isUnknown) else failure
                isUnknown = isUnknown || failure.isUnknownOutcome()
                pause(waitMs)
                repetition += 1
            }
        }
    }

    private fun sendOnce(memory: Memory, signer: Signer, call: Call): Answer {
        val offsetMs = serverOf(memory).clockOffsetMs
        // Two equal requests in one millisecond would be one request to the replay check.
        val timestamp = lastTimestamp.updateAndGet { maxOf(now() + offsetMs, it + 1) }
        val answer = exchange(signed(signer, call, timestamp.toString()))
        val body = parseBody(answer)
        keepNotice(memory, answer.status, body)
        if (answer.status in 200..299) return Answer(answer.status, body)
        // The network sent it twice, as it does when a kept connection ends: the answer to the first is lost.
        if (body.textOrNull("kind") == "replayed_request") throw NoAnswerException("the answer went to a twin of the request")
        val refusal = DeviceException(answer.status, body)
        if (refusal.kind == "clock_skew") body.longOrNull("server_time")?.let { correctClock(memory, it) }
        throw refusal
    }

    private fun correctClock(memory: Memory, serverTime: Long) {
        lastTimestamp.set(0)
        val offsetMs = serverTime - now()
        memory.update { it.with(baseUrl, (it.servers[baseUrl] ?: ServerMemory()).copy(clockOffsetMs = offsetMs)) }
    }

    private fun signed(signer: Signer, call: Call, timestamp: String): HttpCall {
        val slot = call.slot ?: signer.slotOf(call.purpose)
        val body = call.body?.toByteArray()
        val said = CallToSign(call.method, call.path, call.query, sha256Hex(body ?: ByteArray(0)))
        val text = requestText(baseUrl, said, timestamp, signer.deviceId, slot.keyId)
        val headers = mapOf(
            "X-Protocol-Version" to PROTOCOL_VERSION,
            "X-Device-Id" to signer.deviceId,
            "X-Device-Key-Id" to slot.keyId,
            "X-Timestamp" to timestamp,
            "X-Signature" to toBase64(vault.sign(slot.handle, text.toByteArray())),
        )
        val type = if (body == null) emptyMap() else mapOf("Content-Type" to "application/json")
        val query = if (call.query == "") "" else "?${call.query}"
        return HttpCall(call.method, "$baseUrl${call.path}$query", headers + type, body)
    }

    private fun exchange(call: HttpCall): HttpAnswer {
        val answer = try {
            transport.exchange(call)
        } catch (cause: IOException) {
            throw NoAnswerException("the server did not answer", cause)
        }
        if (answer.status in 300..399) throw NoAnswerException("the answer led elsewhere") // not what this server does
        return answer
    }

    private fun serverOf(memory: Memory): ServerMemory = memory.load().servers[baseUrl] ?: ServerMemory()

    private fun demandNoNotice(memory: Memory) {
        val notice = serverOf(memory).notice ?: return
        if (notice.sdkVersion != SDK_VERSION || now() - notice.at !in 0 until UPGRADE_QUIET_MS) return
        val fields = mapOf("min_supported" to JsonPrimitive(notice.minSupported), "current" to JsonPrimitive(notice.current))
        throw DeviceException(UPGRADE_REQUIRED, JsonObject(fields + ("error" to JsonPrimitive("upgrade_required"))))
    }

    private fun keepNotice(memory: Memory, status: Int, body: JsonObject) {
        val isNotice = status == UPGRADE_REQUIRED
        val server = serverOf(memory)
        if (!isNotice && server.notice == null) return
        val notice = UpgradeNotice(body.longOrNull("min_supported"), body.longOrNull("current"), SDK_VERSION, now())
        memory.update { it.with(baseUrl, ServerMemory(server.clockOffsetMs, notice.takeIf { isNotice })) }
    }
}

/** The slot of a purpose; a device without it cannot make that call. */
internal fun Signer.slotOf(purpose: KeyPurpose): KeySlot =
    slots.find { it.purpose == purpose } ?: error("expected a ${purpose.text} key on this device, found none")

internal const val UPGRADE_REQUIRED = 426

private const val REPETITIONS_MAX = 4
private const val FIRST_PAUSE_MS = 500L
private const val RETRY_AFTER_SECONDS_MAX = 30
private const val UPGRADE_QUIET_MS = 60_000L

// How long to wait before a repetition; null: there is none.
private fun pauseBefore(failure: Exception, repetition: Int): Long? {
    val backoffMs = FIRST_PAUSE_MS shl repetition
    if (failure.isUnknownOutcome()) return backoffMs
    if (failure !is DeviceException || failure.status != 429) return null
    val retryAfterSeconds = failure.body.longOrNull("retry_after_seconds") ?: 0
    return if (retryAfterSeconds > RETRY_AFTER_SECONDS_MAX) null else maxOf(backoffMs, retryAfterSeconds * 1000)
}

private fun parseBody(answer: HttpAnswer): JsonObject {
    val waited = answer.retryAfter?.toLongOrNull()?.let { mapOf("retry_after_seconds" to JsonPrimitive(it)) }.orEmpty()
    val parsed = try {
        wireJson.parseToJsonElement(answer.body.decodeToString()) as? JsonObject
    } catch (_: SerializationException) {
        null // not of this server, or nothing at all
    }
    return JsonObject(waited + parsed.orEmpty())
}
