// The device SDK's front: one object per phone and tenant, made of the parts beside it. What changes the state runs while the store is
// held, so that threads and processes take turns. Calls block: an app makes them on a thread of their own.
package gatehouse.device

import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.encodeToJsonElement
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.put

/** What this phone is to the tenant. A draft stands beside the account and does not touch it. */
data class DeviceView(
    val status: DeviceStatus,
    val account: Account?,
    val draft: Draft?,
    val notice: UpgradeNotice?,
    val clockOffsetMs: Long,
)

/**
 * One phone over its stored state.
 *
 * @param baseUrl the tenant's issuer, byte for byte, without a trailing slash
 * @param store shared by all tenants and persons of this phone
 * @param account the device id of the account to act for; else the tenant's newest
 * @param now phone time in milliseconds since the epoch
 */
class Device(
    private val baseUrl: String,
    private val store: StateStore<PhoneState>,
    vault: KeyVault,
    transport: Transport,
    attestor: Attestor? = null,
    account: String? = null,
    now: () -> Long = System::currentTimeMillis,
    pause: (milliseconds: Long) -> Unit = Thread::sleep,
) {
    private val phone = Phone(baseUrl, vault, attestor, SignedChannel(baseUrl, vault, transport, now, pause))
    private val open = Memory(store, isHeld = false)

    @Volatile
    private var chosen = account
    private var isSwept = false

    fun state(): DeviceView = viewOf(open.load())

    /** Finishes what a process left that died: a start, a PIN, an enrolment, a rotation, keys nobody uses. */
    fun resume(): DeviceView {
        transition { memory ->
            Enrollment(phone, memory).resume { enroll(memory) }
            viewOf(memory.load()).account?.takeIf { it.phase == DeviceStatus.ENROLLED }?.let { phone.finishRotation(memory, it) }
        }
        return state()
    }

    fun startRegistration(person: Person): DeviceStatus = start("/registration/start", wireJson.encodeToJsonElement(person))

    fun startSignup(person: Person): DeviceStatus = start("/signup/start", wireJson.encodeToJsonElement(person))

    /** Takes the token of an enrolment link or QR code: `<base_url>/enroll#v=1&t=<token>`. */
    fun redeemEnrollment(token: String, device: DeviceDescription): DeviceStatus = start(
        "/enrollment/redeem",
        buildJsonObject {
            put("enrollment_token", token)
            put("device", wireJson.encodeToJsonElement(device))
        },
    )

    fun verifyPin(pin: String): Unit = transition { Enrollment(phone, it).verifyPin(pin) }

    fun resendPin(): Unit = transition { Enrollment(phone, it).resendPin() }

    /** Proves the keys. While another device decides, calling it again asks how it went: every 3 s is enough. */
    fun enroll(): EnrollOutcome = transition(::enroll)

    /** Gives up an enrolment on its way. */
    fun cancelEnrollment(): Unit = transition(phone::dropDraft)

    /** Pending approvals; with `waitSeconds` (at most 25) the server holds the answer until one appears. */
    fun listApprovals(waitSeconds: Int? = null): List<Approval> = phone.listApprovals(open, account(), waitSeconds)

    /**
     * Takes the code of a sign-in page: the link of its QR code, or the one the app was opened with. The approval is this device's alone
     * from then on. Say `scanned` only of what the app's own camera read: then no number is asked for, while a link may have been sent
     * by somebody else. Throws for a link of another tenant without sending anything.
     */
    fun claim(link: String, scanned: Boolean = false): Approval {
        val parsed = parseSignInLink(link)
        require(parsed?.baseUrl == baseUrl) { "expected the code of a sign-in page of $baseUrl, found $link" }
        return phone.claimApproval(open, account(), parsed!!.code, scanned)
    }

    fun approve(approval: Approval, match: String? = null): Decided = phone.approve(open, account(), approval, match)

    fun deny(approval: Approval, reason: DenyReason): Decided = phone.deny(open, account(), approval, reason)

    /** What the person decided in the last 30 days, on any device. */
    fun activity(limit: Int = 20): List<PastDecision> = phone.listActivity(open, account(), limit)

    /** A signed call of an endpoint this class has no name for. */
    fun send(call: Call): Answer = phone.callAs(open, account(), call)

    fun self(): JsonObject = send(Call("GET", "/v1/device/self")).body

    fun rename(name: String): JsonObject =
        send(Call("PATCH", "/v1/device/self", body = buildJsonObject { put("name", name) }.toString())).body

    /** `provider` is `apns`, `fcm` or `none`. */
    fun setPushToken(provider: String, token: String) {
        val fields = buildJsonObject {
            put("provider", provider)
            put("token", token)
        }
        send(Call("PUT", "/v1/device/push-token", body = fields.toString()))
    }

    fun rotateKeys(): Unit = transition { phone.rotateKeys(it, account()) }

    /** The old keys stop working at once. */
    fun completeRotation(rotationId: String) {
        send(postCall("/keys/rotate/complete", buildJsonObject { put("rotation_id", rotationId) }))
    }

    fun revokeOtherDevice(id: String) {
        try {
            send(postCall("/devices/$id/revoke", JsonObject(emptyMap()), KeyPurpose.UV))
        } catch (refusal: DeviceException) {
            if (!refusal.isOf("not_found") || !refusal.repeated) throw refusal
        }
    }

    /** Revokes this device and forgets its keys; a device the server has revoked already is forgotten as well. */
    fun revokeSelf(): Unit = transition { memory ->
        val current = account().copy(rotation = null)
        try {
            phone.callAs(memory, current, Call("DELETE", "/v1/device/self"))
        } catch (refusal: DeviceException) {
            if (!refusal.isOf("device_key_revoked")) throw refusal
        }
        memory.update { it.with(current.copy(phase = DeviceStatus.REVOKED, slots = emptyList())) }
        phone.removeOrphans(memory)
    }

    /** Forgets the revoked accounts of this tenant. */
    fun forget(): Unit = transition { memory ->
        memory.update { state -> state.copy(accounts = state.accounts.filter { it.baseUrl != baseUrl || it.phase != DeviceStatus.REVOKED }) }
    }

    private fun start(path: String, fields: JsonElement): DeviceStatus = transition { Enrollment(phone, it).start(path, fields.jsonObject) }

    private fun enroll(memory: Memory): EnrollOutcome {
        val outcome = Enrollment(phone, memory).enroll()
        if (outcome is EnrollOutcome.Enrolled) chosen = outcome.deviceId
        return outcome
    }

    private fun account(): Account {
        val found = state().account ?: error("expected an enrolled phone of $baseUrl, found none")
        check(found.phase == DeviceStatus.ENROLLED) { "this device is revoked: enrol again" }
        return found
    }

    private fun <Result> transition(work: (Memory) -> Result): Result = store.exclusive {
        val held = Memory(store, isHeld = true)
        if (!isSwept) phone.removeOrphans(held)
        isSwept = true
        work(held)
    }

    private fun viewOf(state: PhoneState): DeviceView {
        val own = state.accounts.filter { it.baseUrl == baseUrl }
        val newest = own.findLast { it.phase == DeviceStatus.ENROLLED } ?: own.lastOrNull()
        val account = chosen?.let { id -> own.find { it.deviceId == id } } ?: newest.takeIf { chosen == null }
        val draft = state.draft?.takeIf { it.baseUrl == baseUrl }
        val server = state.servers[baseUrl] ?: ServerMemory()
        val status = draft?.status ?: account?.phase ?: DeviceStatus.NONE
        return DeviceView(status, account, draft, server.notice, server.clockOffsetMs)
    }
}

/** Every account of a phone, oldest first. */
fun listAccounts(store: StateStore<PhoneState>): List<Account> = store.load()?.accounts.orEmpty()
