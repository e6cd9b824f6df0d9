// A driver of `gatehouse phone conformance --driver`: one command a line (JSON) on standard input, one answer a line on standard output.
// docs/device-protocol.md, section 8, has the commands; `register`, `claim`, `activity` and `revoke_self` are for the tests of this SDK.
package gatehouse.device.driver

import gatehouse.device.Approval
import gatehouse.device.DenyReason
import gatehouse.device.Device
import gatehouse.device.DeviceDescription
import gatehouse.device.DeviceException
import gatehouse.device.DeviceView
import gatehouse.device.EnrollOutcome
import gatehouse.device.FileStore
import gatehouse.device.NoAnswerException
import gatehouse.device.Person
import gatehouse.device.PhoneState
import gatehouse.device.UrlConnectionTransport
import gatehouse.device.jvm.SoftwareKey
import gatehouse.device.jvm.SoftwareVault
import java.nio.file.Path
import kotlinx.serialization.builtins.MapSerializer
import kotlinx.serialization.builtins.serializer
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long
import kotlinx.serialization.json.put

/** Nobody waits for a test's patience: pauses are a tenth of what they are on a phone. */
private const val HASTE = 10

private val description = DeviceDescription("other", "Conformance")

@Volatile
private var offsetMs = 0L

fun main() {
    val device = openDevice(System.getenv("GATEHOUSE_BASE_URL"), Path.of(System.getenv("GATEHOUSE_STATE")))
    for (line in generateSequence(::readlnOrNull)) println(answer(device, Json.parseToJsonElement(line) as JsonObject))
}

private fun openDevice(baseUrl: String, folder: Path): Device {
    val keys = FileStore(folder.resolve("keys.json"), MapSerializer(String.serializer(), SoftwareKey.serializer()))
    return Device(
        baseUrl,
        FileStore(folder.resolve("phone.json"), PhoneState.serializer()),
        SoftwareVault(keys),
        UrlConnectionTransport(), // as on Android
        now = { System.currentTimeMillis() + offsetMs },
        pause = { Thread.sleep(it / HASTE) },
    )
}

private fun answer(device: Device, command: JsonObject): JsonObject = buildJsonObject {
    put("id", command.getValue("id"))
    try {
        val value = run(device, command)
        put("ok", true)
        put("value", value)
    } catch (failure: Exception) {
        put("ok", false)
        put("error", (failure as? DeviceException)?.error ?: if (failure is NoAnswerException) "no_answer" else failure.toString())
        (failure as? DeviceException)?.kind?.let { put("kind", it) }
    }
}

private fun run(device: Device, command: JsonObject): JsonElement {
    val text = { name: String -> command.getValue(name).jsonPrimitive.content }
    when (val name = text("do")) {
        "state" -> return shown(device.state())
        "resume" -> return shown(device.resume())
        "self" -> return device.self()
        "redeem" -> device.redeemEnrollment(text("token"), description)
        "register" -> device.startRegistration(Person(text("email"), description))
        "pin" -> device.verifyPin(text("pin"))
        "enroll" -> return (device.enroll() as? EnrollOutcome.PendingApproval).let { JsonPrimitive(it?.number) }
        "list" -> return JsonArray(device.listApprovals().map { buildJsonObject { put("id", it.id) } })
        "approve" -> device.approve(approvalOf(device, text("approval")), text("number"))
        "deny" -> device.deny(approvalOf(device, text("approval")), DenyReason.entries.first { it.text == text("reason") })
        "claim" -> device.approve(device.claim(text("link"), scanned = true))
        "activity" -> return JsonArray(device.activity().map { JsonPrimitive("${it.type} ${it.state} ${it.isByThisDevice}") })
        "rotate" -> device.rotateKeys()
        "revoke_self" -> device.revokeSelf()
        "clock" -> offsetMs = command.getValue("offset_ms").jsonPrimitive.long
        else -> error("expected a command, found $name")
    }
    return JsonNull
}

private fun shown(view: DeviceView): JsonElement = buildJsonObject {
    put("status", view.status.text)
    put("device_id", view.account?.deviceId)
}

private fun approvalOf(device: Device, id: String): Approval =
    device.listApprovals().find { it.id == id } ?: error("expected the approval $id, found none")
