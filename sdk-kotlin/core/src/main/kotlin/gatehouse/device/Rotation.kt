// Key rotation that survives a crash at any point: the new keys and the exact confirmation are stored before it is sent, and an unanswered
// confirmation is repeated identically. Runs while the store is held; called through Device.
package gatehouse.device

import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.put

/** Replaces the private keys of every slot the server lets rotate; first finishes a confirmation that went unanswered. */
internal fun Phone.rotateKeys(memory: Memory, account: Account) {
    if (finishRotation(memory, account)) return
    val plain = account.copy(rotation = null)
    val started = callAs(memory, plain, postCall("/keys/rotate/start", JsonObject(emptyMap()))).body
    val rotating = plain.copy(rotation = prepareRotation(plain, started))
    memory.update { it.with(rotating) }
    check(finishRotation(memory, rotating)) { "the server refused the rotation; the keys are as before" }
}

/** Confirms a rotation that was prepared: true when the server has the new keys, false when there is none or it was refused. */
internal fun Phone.finishRotation(memory: Memory, account: Account): Boolean {
    val rotation = account.rotation ?: return false
    val isAccepted = confirm(memory, account, rotation)
    val slots = account.slots.map { old -> rotation.newSlots.find { isAccepted && it.keyId == old.keyId } ?: old }
    memory.update { it.with(account.copy(slots = slots, rotation = null)) }
    removeOrphans(memory)
    return isAccepted
}

// A refusal by 400 means the server never took the new keys. A bad signature means that it did so long ago that the old key counts no
// more: the same body, signed by the new one, is answered as then.
private fun Phone.confirm(memory: Memory, account: Account, rotation: PendingRotation): Boolean {
    val call = Call("POST", "/v1/device/keys/rotate/confirm", body = rotation.body)
    val newPop = rotation.newSlots.find { it.purpose == KeyPurpose.POP }
    return try {
        try {
            callAs(memory, account, call)
        } catch (refusal: DeviceException) {
            if (newPop == null || !refusal.isOf("bad_signature")) throw refusal
            callAs(memory, account.copy(slots = rotation.newSlots), call.copy(slot = newPop))
        }
        true
    } catch (refusal: DeviceException) {
        if (refusal.status != 400) throw refusal
        false
    }
}

private fun Phone.prepareRotation(account: Account, started: JsonObject): PendingRotation {
    val nonce = started.text("nonce")
    val named = started.getValue("keys").jsonArray.map { it.jsonObject.text("key_id") }
    val pairs = account.slots.filter { it.keyId in named }.map { old ->
        val made = vault.create(old.purpose)
        old to old.copy(alg = made.alg, handle = made.handle, publicKey = made.publicKey)
    }
    val keys = pairs.map { (old, slot) -> confirmed(old, slot, rotateText(baseUrl, account.deviceId, nonce, slot.named)) }
    val body = buildJsonObject {
        put("nonce", nonce)
        put("keys", JsonArray(keys))
    }
    return PendingRotation(started.text("rotation_id"), body.toString(), pairs.map { (_, slot) -> slot })
}

private fun Phone.confirmed(old: KeySlot, slot: KeySlot, text: String): JsonObject = buildJsonObject {
    put("key_id", slot.keyId)
    put("alg", slot.alg)
    put("public_key", slot.publicKey)
    put("signature", sign(slot, text))
    if (slot.purpose == KeyPurpose.UV) put("old_signature", sign(old, text))
}
