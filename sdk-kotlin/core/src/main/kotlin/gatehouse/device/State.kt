// What a phone remembers between starts. Private keys are not in here: they live in the KeyVault.
package gatehouse.device

import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonElement

/** A draft is one of `STARTING` to `PENDING_APPROVAL`, an account `ENROLLED` or `REVOKED`, a phone without either `NONE`. */
@Serializable
enum class DeviceStatus(val text: String) {
    NONE("none"),

    @SerialName("starting")
    STARTING("starting"),

    @SerialName("unverified")
    UNVERIFIED("unverified"),

    @SerialName("verifying")
    VERIFYING("verifying"),

    @SerialName("verified")
    VERIFIED("verified"),

    @SerialName("enrolling")
    ENROLLING("enrolling"),

    @SerialName("pending_approval")
    PENDING_APPROVAL("pending_approval"),

    @SerialName("enrolled")
    ENROLLED("enrolled"),

    @SerialName("revoked")
    REVOKED("revoked"),
}

@Serializable
data class KeySlot(val keyId: String, val purpose: KeyPurpose, val alg: String, val handle: String, val publicKey: String)

/** Whose keys sign: an account, or an enrolment on its way. */
sealed interface Signer {
    val deviceId: String
    val slots: List<KeySlot>
}

/** A call exactly as it is sent, so that a repetition is the same. */
@Serializable
data class ExactCall(val path: String, val body: String)

/**
 * An enrolment on its way. It becomes an account or goes; accounts never feel it. `enrollBody` is the body of the enrolment,
 * exactly; `number` is shown while another device decides.
 */
@Serializable
data class Draft(
    val baseUrl: String,
    val status: DeviceStatus,
    override val deviceId: String,
    override val slots: List<KeySlot>,
    val start: ExactCall,
    val token: String? = null,
    val expiresAt: String? = null,
    val challenge: String? = null,
    val enrollBody: String? = null,
    val number: String? = null,
) : Signer

/** A rotation whose confirmation may or may not have arrived: the exact body is kept, so a retry is identical. */
@Serializable
data class PendingRotation(val rotationId: String, val body: String, val newSlots: List<KeySlot>)

/** One enrolment of one person at one tenant. `user`: the person as the server described them. */
@Serializable
data class Account(
    val baseUrl: String,
    override val deviceId: String,
    val phase: DeviceStatus,
    override val slots: List<KeySlot>,
    val user: JsonElement? = null,
    val rotation: PendingRotation? = null,
) : Signer

/**
 * The server wants a newer protocol: calls fail for a minute, then one is tried. An SDK of another version does not mind. `at` is
 * phone time in milliseconds.
 */
@Serializable
data class UpgradeNotice(val minSupported: Long?, val current: Long?, val sdkVersion: String, val at: Long)

/** `clockOffsetMs`: server time minus phone time. */
@Serializable
data class ServerMemory(val clockOffsetMs: Long = 0, val notice: UpgradeNotice? = null)

/** `servers` by base_url. */
@Serializable
data class PhoneState(
    val accounts: List<Account> = emptyList(),
    val draft: Draft? = null,
    val servers: Map<String, ServerMemory> = emptyMap(),
) {
    /** Every key the state refers to; others in the vault are left over from a process that died. */
    internal val handles: Set<String>
        get() = (draft?.slots.orEmpty() + accounts.flatMap { it.slots + it.rotation?.newSlots.orEmpty() }).map { it.handle }.toSet()

    internal fun with(account: Account): PhoneState = copy(accounts = accounts.filter { it.deviceId != account.deviceId } + account)

    internal fun with(baseUrl: String, server: ServerMemory): PhoneState = copy(servers = servers + (baseUrl to server))
}

/** Keeps one value. `save` is atomic; `exclusive` runs one work at a time among all who share the store. */
interface StateStore<Value> {
    fun load(): Value?

    fun save(value: Value)

    fun <Result> exclusive(work: () -> Result): Result
}

/** A store that forgets when the process ends. */
class MemoryStore<Value : Any> : StateStore<Value> {
    private val lock = ReentrantLock()

    @Volatile
    private var kept: Value? = null

    override fun load(): Value? = kept

    override fun save(value: Value) {
        kept = value
    }

    override fun <Result> exclusive(work: () -> Result): Result = lock.withLock(work)
}

/** The state as one reads and changes it; inside a transition the lock is held already. */
internal class Memory(private val store: StateStore<PhoneState>, private val isHeld: Boolean) {
    fun load(): PhoneState = store.load() ?: PhoneState()

    fun update(change: (PhoneState) -> PhoneState) {
        val write = { store.save(change(load())) }
        if (isHeld) write() else store.exclusive(write)
    }
}
