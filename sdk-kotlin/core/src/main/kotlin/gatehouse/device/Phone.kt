// What every part of the SDK works with: the channel, the vault, and the rules that hold for all drafts and accounts.
package gatehouse.device

import kotlinx.serialization.json.JsonObject

internal class Phone(val baseUrl: String, val vault: KeyVault, val attestor: Attestor?, private val channel: SignedChannel) {
    fun send(memory: Memory, signer: Signer, call: Call): Answer = channel.send(memory, signer, call)

    /** A call of an enrolled device. A revoked key is believed when the device's own record says so too. */
    fun callAs(memory: Memory, account: Account, call: Call): Answer = try {
        send(memory, account, call)
    } catch (refusal: DeviceException) {
        if (refusal.isOf("device_key_revoked") && askSelf(memory, account) == null) settleRevocation(memory, account)
        throw refusal
    }

    /** The `/self` of a device, or null when the server knows no such device. */
    fun askSelf(memory: Memory, signer: Signer): JsonObject? = try {
        send(memory, signer, Call("GET", "/v1/device/self")).body
    } catch (refusal: DeviceException) {
        if (!refusal.isOf("device_key_revoked")) throw refusal
        null
    }

    /** The draft of this tenant; throws when there is none. */
    fun draftOf(memory: Memory): Draft =
        memory.load().draft?.takeIf { it.baseUrl == baseUrl } ?: error("expected an enrolment in progress, found none")

    fun changeDraft(memory: Memory, draft: Draft): Draft {
        memory.update { it.copy(draft = draft) }
        return draft
    }

    /** Forgets the draft, then its keys. Accounts are not touched. */
    fun dropDraft(memory: Memory) {
        memory.update { it.copy(draft = null) }
        removeOrphans(memory)
    }

    /** Deletes the keys nothing refers to: left by a process that died, or just let go. The caller holds the store. */
    fun removeOrphans(memory: Memory) {
        val kept = memory.load().handles
        vault.list().filter { it !in kept }.forEach(vault::remove)
    }

    fun sign(slot: KeySlot, text: String): String = toBase64(vault.sign(slot.handle, text.toByteArray()))

    private fun settleRevocation(memory: Memory, account: Account) {
        memory.update { it.with(account.copy(phase = DeviceStatus.REVOKED, slots = emptyList(), rotation = null)) }
        for (slot in account.slots + account.rotation?.newSlots.orEmpty()) vault.remove(slot.handle)
    }
}

internal fun postCall(path: String, fields: JsonObject, purpose: KeyPurpose = KeyPurpose.POP, isOnce: Boolean = false): Call =
    Call("POST", "/v1/device$path", body = fields.toString(), purpose = purpose, isOnce = isOnce)
