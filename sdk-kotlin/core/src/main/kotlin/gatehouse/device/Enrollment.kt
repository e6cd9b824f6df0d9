// Enrolment, state by state: what is saved before each call, and what becomes of a call that was not answered. Runs while the store is
// held; called through Device. docs/device-protocol.md, section 5, is the table.
package gatehouse.device

import gatehouse.device.DeviceStatus.ENROLLED
import gatehouse.device.DeviceStatus.ENROLLING
import gatehouse.device.DeviceStatus.PENDING_APPROVAL
import gatehouse.device.DeviceStatus.STARTING
import gatehouse.device.DeviceStatus.UNVERIFIED
import gatehouse.device.DeviceStatus.VERIFIED
import gatehouse.device.DeviceStatus.VERIFYING
import java.util.UUID
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put

/** `platform` is `android`, `ios` or `other`. */
@Serializable
data class DeviceDescription(
    val platform: String,
    val name: String,
    val model: String? = null,
    @SerialName("os_version") val osVersion: String? = null,
    @SerialName("app_version") val appVersion: String? = null,
)

@Serializable
data class Person(
    val email: String,
    val device: DeviceDescription,
    @SerialName("given_name") val givenName: String? = null,
    @SerialName("family_name") val familyName: String? = null,
    val locale: String? = null,
)

/** Makes the `attestation` member of the enrolment from the challenge; Play Integrity takes the SHA-256 of `clientData` as its nonce. */
fun interface Attestor {
    fun attest(challenge: String, clientData: ByteArray, slots: List<KeySlot>): JsonObject
}

sealed interface EnrollOutcome {
    data class Enrolled(val deviceId: String, val user: JsonElement?) : EnrollOutcome

    /** Another device decides; the person types `number` there. */
    data class PendingApproval(val number: String) : EnrollOutcome
}

private const val ATTEMPTS_MAX = 3
private val deadToken = arrayOf("token_invalid", "token_expired", "device_key_revoked")

/** The enrolment of one phone; `memory` is held. */
internal class Enrollment(private val phone: Phone, private val memory: Memory) {
    /** Makes both keys, keeps the exact call, and sends it. A draft that was there before is replaced. */
    fun start(path: String, fields: JsonObject): DeviceStatus {
        val slots = listOf(makeSlot(KeyPurpose.POP), makeSlot(KeyPurpose.UV))
        val body = JsonObject(fields + ("keys" to JsonArray(slots.map(::publicFields)))).toString()
        val draft = Draft(phone.baseUrl, STARTING, newId(), slots, ExactCall("/v1/device$path", body))
        phone.changeDraft(memory, draft)
        phone.removeOrphans(memory)
        return sendStart(draft)
    }

    /** Proves the mailbox with the PIN of the mail. The PIN is neither kept nor sent twice. */
    fun verifyPin(pin: String) {
        val draft = phone.changeDraft(memory, phone.draftOf(memory).copy(status = VERIFYING))
        val fields = buildJsonObject {
            put("registration_token", tokenOf(draft))
            put("pin", pin)
        }
        try {
            val (expiresAt, challenge) = phone.send(memory, draft, postCall("/pin/verify", fields, isOnce = true)).body.proven()
            phone.changeDraft(memory, draft.copy(status = VERIFIED, expiresAt = expiresAt, challenge = challenge))
        } catch (failure: Exception) {
            if (failure.isUnknownOutcome() && learnWhetherVerified(draft) == VERIFIED) return
            if (failure.isRefusal("email_exists", *deadToken)) phone.dropDraft(memory)
            else if (failure is DeviceException) phone.changeDraft(memory, draft.copy(status = UNVERIFIED))
            throw failure
        }
    }

    /** Asks for another mail. */
    fun resendPin() {
        val draft = phone.draftOf(memory)
        phone.send(memory, draft, postCall("/pin/resend", tokenFields(draft), isOnce = true))
    }

    /** Proves every key and becomes an enrolled device, or waits for a person to approve it on another device. */
    fun enroll(): EnrollOutcome {
        var draft = phone.draftOf(memory)
        // A process died over this: whether the call arrived is asked before anything is signed.
        if (draft.status == ENROLLING) {
            findEnrolled(draft)?.let { return it }
            draft = freshlyProven(draft)
        } else if (draft.status == VERIFIED) draft = prepare(draft)
        for (attempt in 0..ATTEMPTS_MAX) {
            sendEnrollment(draft, attempt == ATTEMPTS_MAX)?.let { return it }
            draft = freshlyProven(draft)
        }
        error("the last attempt gives an outcome or throws")
    }

    /** Finishes what a process left that died. */
    fun resume(finish: () -> Unit) {
        val draft = memory.load().draft?.takeIf { it.baseUrl == phone.baseUrl } ?: return
        when (draft.status) {
            STARTING -> sendStart(draft)
            VERIFYING -> learnWhetherVerified(draft)
            ENROLLING, PENDING_APPROVAL -> finish()
            else -> Unit
        }
    }

    private fun sendStart(draft: Draft): DeviceStatus = try {
        val answer = phone.send(memory, draft, Call("POST", draft.start.path, body = draft.start.body))
        val started = draft.copy(token = answer.body.text("registration_token"), expiresAt = answer.body.text("expires_at"))
        val next =
            if (answer.status == 200) started.copy(status = VERIFIED, challenge = answer.body.proven().second)
            else started.copy(status = UNVERIFIED)
        phone.changeDraft(memory, next).status
    } catch (refusal: DeviceException) {
        if (refusal.status < 500 && refusal.status != UPGRADE_REQUIRED) phone.dropDraft(memory)
        throw refusal
    }

    // After a verification without an answer: only a proven mailbox is given a challenge.
    private fun learnWhetherVerified(draft: Draft): DeviceStatus {
        val challenge = try {
            freshChallenge(draft)
        } catch (refusal: DeviceException) {
            if (!refusal.isOf("token_invalid")) throw refusal
            null
        }
        val next = if (challenge == null) draft.copy(status = UNVERIFIED) else draft.copy(status = VERIFIED, challenge = challenge)
        return phone.changeDraft(memory, next).status
    }

    // Null: the call may be made again with a fresh challenge.
    private fun sendEnrollment(draft: Draft, isLast: Boolean): EnrollOutcome? = try {
        val body = draft.enrollBody ?: error("expected a proven mailbox, found an enrolment that is ${draft.status.text}")
        val answer = phone.send(memory, draft, Call("POST", "/v1/device/enroll", body = body, isOnce = true))
        if (answer.status == 201) finish(draft, answer.body["user"]) else waits(draft, answer.body.text("number"))
    } catch (failure: Exception) {
        settleRefusal(draft, failure, isLast)
    }

    private fun waits(draft: Draft, number: String): EnrollOutcome {
        val waiting = draft.copy(status = PENDING_APPROVAL, number = number)
        if (waiting != draft) phone.changeDraft(memory, waiting)
        return EnrollOutcome.PendingApproval(number)
    }

    // A consumed registration, a consumed challenge and silence may all mean that the call succeeded before.
    private fun settleRefusal(draft: Draft, failure: Exception, isLast: Boolean): EnrollOutcome? {
        if (failure.isRefusal("bad_proof", *deadToken) || failure.isUnknownOutcome()) {
            findEnrolled(draft)?.let { return it }
            if (failure.isRefusal(*deadToken)) phone.dropDraft(memory)
            else if (!isLast) return null
        } else if (failure.isRefusal("device_denied")) phone.dropDraft(memory)
        else if (failure is DeviceException && draft.status == ENROLLING && failure.status != UPGRADE_REQUIRED)
            phone.changeDraft(memory, draft.copy(status = VERIFIED, challenge = null, enrollBody = null))
        throw failure
    }

    private fun findEnrolled(draft: Draft): EnrollOutcome? = phone.askSelf(memory, draft)?.let { finish(draft, it["user"]) }

    // The account appears and the draft goes in one write.
    private fun finish(draft: Draft, user: JsonElement?): EnrollOutcome {
        val account = Account(draft.baseUrl, draft.deviceId, ENROLLED, draft.slots, user)
        memory.update { it.copy(draft = null).with(account) }
        return EnrollOutcome.Enrolled(draft.deviceId, user)
    }

    private fun freshlyProven(draft: Draft): Draft = prepare(draft.copy(challenge = null))

    // Signs every key's proof and keeps the exact body before it is sent.
    private fun prepare(draft: Draft): Draft {
        val challenge = draft.challenge ?: challengeOrDrop(draft)
        val fields = buildJsonObject {
            put("registration_token", tokenOf(draft))
            put("proofs", JsonArray(draft.slots.map { prove(draft, it, challenge) }))
            phone.attestor?.let { put("attestation", attest(it, draft, challenge)) }
        }
        return phone.changeDraft(memory, draft.copy(status = ENROLLING, challenge = challenge, enrollBody = fields.toString()))
    }

    private fun prove(draft: Draft, slot: KeySlot, challenge: String): JsonObject = buildJsonObject {
        put("key_id", slot.keyId)
        put("signature", phone.sign(slot, enrollText(phone.baseUrl, draft.deviceId, slot.keyId, slot.publicKeySha256, challenge)))
    }

    private fun attest(attestor: Attestor, draft: Draft, challenge: String): JsonObject {
        val text = attestationText(phone.baseUrl, draft.deviceId, challenge, draft.slots.map { it.named })
        return attestor.attest(challenge, text.toByteArray(), draft.slots)
    }

    private fun challengeOrDrop(draft: Draft): String = try {
        freshChallenge(draft)
    } catch (refusal: DeviceException) {
        if (refusal.isOf(*deadToken)) phone.dropDraft(memory)
        throw refusal
    }

    private fun freshChallenge(draft: Draft): String =
        phone.send(memory, draft, postCall("/attestation/challenge", tokenFields(draft))).body.text("challenge")

    private fun makeSlot(purpose: KeyPurpose): KeySlot =
        phone.vault.create(purpose).let { KeySlot(newId(), purpose, it.alg, it.handle, it.publicKey) }
}

private fun newId(): String = UUID.randomUUID().toString()

private fun publicFields(slot: KeySlot): JsonObject = buildJsonObject {
    put("key_id", slot.keyId)
    put("purpose", slot.purpose.text)
    put("alg", slot.alg)
    put("public_key", slot.publicKey)
}

private fun tokenFields(draft: Draft): JsonObject = buildJsonObject { put("registration_token", tokenOf(draft)) }

private fun tokenOf(draft: Draft): String =
    draft.token ?: error("expected a registration that was answered, found one that is ${draft.status.text}")

// When a proven mailbox ends, and the challenge to prove the keys with.
private fun JsonObject.proven(): Pair<String, String> =
    text("expires_at") to ((this["attestation"] as? JsonObject) ?: error("expected attestation in the answer, found $this")).text("challenge")
