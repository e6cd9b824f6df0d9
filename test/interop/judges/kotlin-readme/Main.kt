// Runs the functions of sdk-kotlin/README.md, compiled beside it: a command a line (JSON) on standard input, each on a thread of its own,
// because some wait for what another does. Answers are those of a driver (docs/device-protocol.md, section 8); an error is `messageOf` it.
import gatehouse.device.*
import java.io.OutputStream
import java.io.PrintStream
import java.nio.file.Path
import java.util.concurrent.LinkedBlockingQueue
import kotlin.concurrent.thread
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put

/** What the functions print, line by line. */
private val printed = LinkedBlockingQueue<String>()
private val devices = mutableMapOf<String, Device>()
private var decided: Approval? = null

fun main() {
    val answers = System.out
    System.setOut(object : PrintStream(OutputStream.nullOutputStream()) {
        override fun println(line: Any?) = printed.put(line.toString())
    })
    for (line in generateSequence(::readlnOrNull)) {
        val command = Json.parseToJsonElement(line).jsonObject
        thread { answers.println(answer(command)) }
    }
}

private fun answer(command: JsonObject): JsonObject = buildJsonObject {
    put("id", command.getValue("id"))
    try {
        val value = run(command)
        put("ok", true)
        put("value", value)
    } catch (failure: Exception) {
        put("ok", false)
        put("error", try { messageOf(failure) } catch (thrown: Exception) { thrown.toString() })
    }
}

private fun run(command: JsonObject): String? {
    val text = { name: String -> command[name]?.jsonPrimitive?.contentOrNull }
    val name = text("phone") ?: return printed.take()
    val folder = Path.of(System.getenv("GATEHOUSE_STATE"), name)
    val device = { devices.getValue(name) }
    var shown: String? = null
    when (val action = text("do")) {
        "redeem" -> shown = redeem(text("link")!!, folder).also { devices[name] = it }.state().status.text
        "decide" -> decideNext(device()) { approval ->
            decided = approval
            shown = approval.type
            text("number")
        }
        "decide again" -> device().approve(decided!!, text("number"))
        "claim" -> claimScanned(device(), text("link")!!) { approval ->
            shown = "${approval.type} ${approval.match.required}"
            text("confirm") == "true"
        }
        "push" -> device().setPushToken("fcm", text("token")!!)
        "sign up" -> deviceIn(folder, text("baseUrl")!!).startSignup(Person("x@example.com", DeviceDescription("other", "x")))
        else -> error("expected a command, found $action")
    }
    return shown
}
