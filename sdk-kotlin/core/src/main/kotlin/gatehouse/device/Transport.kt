// How a request reaches the server: one exchange of bytes. Which requests are made, and again, is the channel's business.
package gatehouse.device

import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL

class HttpCall(val method: String, val url: String, val headers: Map<String, String>, val body: ByteArray?)

class HttpAnswer(val status: Int, val retryAfter: String?, val body: ByteArray)

fun interface Transport {
    /** Throws IOException when no answer came. Follows no redirect, since what is signed is for one address. */
    @Throws(IOException::class)
    fun exchange(call: HttpCall): HttpAnswer
}

/** Over the connections of Android. A plain JVM refuses PATCH here, so `rename` wants jvm/JdkTransport there. */
class UrlConnectionTransport : Transport {
    override fun exchange(call: HttpCall): HttpAnswer {
        val connection = URL(call.url).openConnection() as HttpURLConnection // a base_url is http or https
        connection.requestMethod = call.method
        connection.instanceFollowRedirects = false
        connection.useCaches = false
        connection.connectTimeout = CONNECT_MS
        connection.readTimeout = ANSWER_MS
        for ((name, value) in call.headers) connection.setRequestProperty(name, value)
        if (call.body != null) {
            connection.doOutput = true
            connection.outputStream.use { it.write(call.body) }
        }
        val status = connection.responseCode
        val body = (if (status >= 400) connection.errorStream else connection.inputStream)?.use { it.readBytes() }
        return HttpAnswer(status, connection.getHeaderField("Retry-After"), body ?: ByteArray(0))
    }
}

internal const val CONNECT_MS = 10_000

/** Longer than the 25 s for which a server may hold an answer. */
internal const val ANSWER_MS = 40_000
