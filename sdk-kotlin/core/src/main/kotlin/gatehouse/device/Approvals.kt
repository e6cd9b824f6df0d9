// What a person decides on an enrolled phone. A decision that was repeated and is found decided was one's own.
package gatehouse.device

import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.decodeFromJsonElement
import kotlinx.serialization.json.put

/** `type` is `oidc_login`, `saml_login`, `ciba` or `device_add`. Show all of it: approving binds to what was shown. */
@Serializable
data class Approval(
    val id: String,
    val type: String,
    val client: JsonObject?,
    @SerialName("binding_message") val bindingMessage: String?,
    val scopes: List<String>,
    val initiated: JsonObject,
    val match: Match,
    @SerialName("expires_at") val expiresAt: String,
    val device: JsonObject?,
    @SerialName("context_sha256") val contextSha256: String,
) {
    /** Whether the person types the number of the other screen. */
    @Serializable
    data class Match(val required: Boolean, val digits: Int)
}

@Serializable
data class PastDecision(
    val at: String,
    val type: String,
    val client: JsonObject?,
    val initiated: JsonObject?,
    val state: String,
    @SerialName("by_this_device") val isByThisDevice: Boolean,
)

enum class DenyReason(val text: String) { NOT_ME("not_me"), MISTAKE("mistake"), OTHER("other") }

/** `DECIDED`: an earlier attempt whose answer was lost decided it. */
enum class Decided(val text: String) { APPROVED("approved"), DENIED("denied"), DECIDED("decided") }

internal fun Phone.listApprovals(memory: Memory, account: Account, waitSeconds: Int?): List<Approval> {
    val query = if (waitSeconds == null) "state=pending" else "state=pending&wait=$waitSeconds"
    return itemsOf(callAs(memory, account, Call("GET", "/v1/device/approvals", query)))
}

/** Claims what the code names. A code works once: after a lost answer the claimed approval is the listed one it begins with. */
internal fun Phone.claimApproval(memory: Memory, account: Account, code: String, scanned: Boolean): Approval = try {
    val fields = buildJsonObject {
        put("code", code)
        if (scanned) put("scanned", true)
    }
    wireJson.decodeFromJsonElement(callAs(memory, account, postCall("/approvals/claim", fields)).body)
} catch (refusal: DeviceException) {
    if (!refusal.isOf("not_found") || !refusal.repeated) throw refusal
    listApprovals(memory, account, null).find { it.id == code.substringBefore('.') } ?: throw refusal
}

internal fun Phone.approve(memory: Memory, account: Account, approval: Approval, match: String?): Decided {
    val fields = buildJsonObject {
        put("context_sha256", approval.contextSha256)
        if (match != null) put("match", match)
    }
    return decide(memory, account, postCall("/approvals/${approval.id}/approve", fields, KeyPurpose.UV), Decided.APPROVED)
}

internal fun Phone.deny(memory: Memory, account: Account, approval: Approval, reason: DenyReason): Decided {
    val fields = buildJsonObject { put("reason", reason.text) }
    return decide(memory, account, postCall("/approvals/${approval.id}/deny", fields), Decided.DENIED)
}

internal fun Phone.listActivity(memory: Memory, account: Account, limit: Int): List<PastDecision> =
    itemsOf(callAs(memory, account, Call("GET", "/v1/device/activity", "limit=$limit")))

private fun Phone.decide(memory: Memory, account: Account, call: Call, decided: Decided): Decided = try {
    callAs(memory, account, call)
    decided
} catch (refusal: DeviceException) {
    if (!refusal.isOf("approval_not_pending") || !refusal.repeated) throw refusal
    Decided.DECIDED
}

private inline fun <reified Item> itemsOf(answer: Answer): List<Item> =
    wireJson.decodeFromJsonElement(answer.body["items"] ?: error("expected items in the answer, found ${answer.body}"))
