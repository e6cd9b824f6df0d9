// Both transports against a server of the JDK: what they send, what they read, and that silence is an IOException.
package gatehouse.device

import com.sun.net.httpserver.HttpServer
import gatehouse.device.jvm.JdkTransport
import java.io.IOException
import java.net.InetSocketAddress
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

class TransportTest {
    private val held = CountDownLatch(1)
    private val released = CountDownLatch(1)
    private val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0).apply {
        createContext("/echo") { exchange ->
            val body = exchange.requestBody.readBytes().decodeToString()
            val said = "${exchange.requestMethod} ${exchange.requestURI} ${exchange.requestHeaders.getFirst("X-Timestamp")} $body"
            val status = exchange.requestURI.query.toInt()
            exchange.responseHeaders["Retry-After"] = "7"
            exchange.sendResponseHeaders(status, said.length.toLong())
            exchange.responseBody.use { it.write(said.toByteArray()) }
        }
        createContext("/empty") { exchange ->
            exchange.sendResponseHeaders(exchange.requestURI.query.toInt(), -1)
            exchange.close()
        }
        createContext("/elsewhere") { exchange ->
            exchange.responseHeaders["Location"] = "/echo?200"
            exchange.sendResponseHeaders(307, -1)
            exchange.close()
        }
        createContext("/silence") { it.close() }
        createContext("/held") {
            held.countDown()
            released.await()
            it.close()
        }
        start()
    }

    private val base = "http://127.0.0.1:${server.address.port}"

    @AfterEach
    fun stop() = server.stop(0)

    @TestFactory
    fun `both transports`(): List<DynamicTest> = listOf(UrlConnectionTransport(), JdkTransport()).flatMap { transport ->
        val ask = { method: String, path: String, body: String? ->
            transport.exchange(HttpCall(method, "$base$path", mapOf("X-Timestamp" to "1"), body?.toByteArray()))
        }
        val name = transport::class.simpleName
        val echoes = listOf("GET" to null, "POST" to "{}", "PUT" to "{}", "DELETE" to null).flatMap { (method, body) ->
            listOf(200, 401, 404, 426, 429, 503).map { status ->
                dynamicTest("$name: $method answered $status") {
                    val answer = ask(method, "/echo?$status", body)
                    assertEquals(listOf(status, "7"), listOf(answer.status, answer.retryAfter))
                    assertEquals("$method /echo?$status 1 ${body.orEmpty()}", answer.body.decodeToString())
                }
            }
        }
        echoes + listOf(
            dynamicTest("$name: answers without a body") {
                for (status in listOf(204, 401, 500)) {
                    val answer = ask("POST", "/empty?$status", "{}")
                    assertEquals(status to 0, answer.status to answer.body.size)
                    assertNull(answer.retryAfter)
                }
            },
            dynamicTest("$name: follows nobody elsewhere") { assertEquals(307, ask("POST", "/elsewhere", "{}").status) },
            dynamicTest("$name: silence") {
                assertThrows(IOException::class.java) { ask("POST", "/silence", "{}") }
                assertThrows(IOException::class.java) { ask("GET", "/silence", null) }
            },
        )
    }

    @Test
    fun `the client of the JDK lets go when its thread is interrupted`() {
        var thrown: Throwable? = null
        val waiting = thread {
            thrown = runCatching { JdkTransport().exchange(HttpCall("GET", "$base/held", emptyMap(), null)) }.exceptionOrNull()
        }
        held.await()
        waiting.interrupt()
        waiting.join()
        released.countDown()
        assertInstanceOf(InterruptedException::class.java, thrown)
    }

    @Test
    fun `PATCH goes over the client of the JDK`() {
        val answer = JdkTransport().exchange(HttpCall("PATCH", "$base/echo?200", emptyMap(), "{}".toByteArray()))
        assertEquals("PATCH /echo?200 null {}", answer.body.decodeToString())
    }
}
