// The HTTP client of the JDK, for machines that act as phones. Android has none: UrlConnectionTransport there.
package gatehouse.device.jvm

import gatehouse.device.ANSWER_MS
import gatehouse.device.CONNECT_MS
import gatehouse.device.HttpAnswer
import gatehouse.device.HttpCall
import gatehouse.device.Transport
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration

class JdkTransport : Transport {
    private val client = HttpClient.newBuilder().connectTimeout(Duration.ofMillis(CONNECT_MS.toLong())).build()

    override fun exchange(call: HttpCall): HttpAnswer {
        val body = call.body?.let(BodyPublishers::ofByteArray) ?: BodyPublishers.noBody()
        val request = HttpRequest.newBuilder(URI(call.url)).method(call.method, body).timeout(Duration.ofMillis(ANSWER_MS.toLong()))
        // Without TLS an offer of HTTP/2 would be a header more.
        if (call.url.startsWith("http:")) request.version(HttpClient.Version.HTTP_1_1)
        for ((name, value) in call.headers) request.setHeader(name, value)
        val response = client.send(request.build(), BodyHandlers.ofByteArray())
        return HttpAnswer(response.statusCode(), response.headers().firstValue("retry-after").orElse(null), response.body())
    }
}
