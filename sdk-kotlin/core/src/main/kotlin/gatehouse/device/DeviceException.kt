// What goes wrong: a refusal by the server, or no answer at all. Callers branch on `error` and `kind` only, never on a message.
package gatehouse.device

import java.io.IOException
import kotlinx.serialization.json.JsonObject

/** An answer of the server that is not a success. `repeated`: an earlier attempt of this call was not answered and may have had its effect. */
class DeviceException(val status: Int, val body: JsonObject, val repeated: Boolean = false) :
    Exception("$status ${body.textOrNull("error") ?: "unknown"}${body.textOrNull("kind")?.let { " ($it)" }.orEmpty()}") {
    val error: String = body.textOrNull("error") ?: "unknown"
    val kind: String? = body.textOrNull("kind")

    /** Whether it is a refusal of that error or kind. */
    fun isOf(vararg codes: String): Boolean = error in codes || kind in codes
}

/** Nothing came back, repetitions included: whether the request arrived is not known. */
class NoAnswerException(message: String, cause: Throwable? = null) : IOException(message, cause)

internal fun Throwable.isRefusal(vararg codes: String): Boolean = this is DeviceException && isOf(*codes)

/** Silence, or an answer that says nothing about what became of the request. */
internal fun Throwable.isUnknownOutcome(): Boolean = this is NoAnswerException || (this is DeviceException && status >= 500)
