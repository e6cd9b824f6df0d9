// What the channel does with silence and with answers that concern every call.
package gatehouse.device

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ChannelTest {
    private val pocket = Pocket()
    private val server = Answering(answer = ::kindly)
    private val device = pocket.enrolled(server).also { server.asked.clear() }

    private fun refused(work: () -> Unit): String = assertThrows(DeviceException::class.java, work).let { it.kind ?: it.error }

    @Test
    fun `silence is repeated four times, waiting longer, each with a timestamp of its own`() {
        server.answer = { null }
        assertThrows(NoAnswerException::class.java) { device.self() }
        assertEquals(listOf(500L, 1000L, 2000L, 4000L), pocket.pauses)
        assertEquals(5, server.asked.map { it.timestamp }.toSet().size)
    }

    @Test
    fun `5xx and redirects are repeated, other refusals are not`() {
        for (status in listOf(500, 503, 307)) {
            server.asked.clear()
            server.answer = { if (server.asked.size == 1) status to "<html>" else kindly(it) }
            device.self()
            assertEquals(2, server.asked.size, "$status")
        }
        server.asked.clear()
        server.answer = { refusal(404, "not_found") }
        assertEquals("not_found", refused { device.self() })
        assertEquals(1, server.asked.size)
    }

    @Test
    fun `a request that the network sent twice was not answered`() {
        server.answer = { if (server.asked.size == 1) refusal(401, "unauthorized", ""","kind":"replayed_request"""") else kindly(it) }
        device.self()
        assertTrue(server.asked[1].timestamp > server.asked[0].timestamp)
    }

    @Test
    fun `429 is waited for, up to half a minute`() {
        server.answer = { if (server.asked.size == 1) refusal(429, "rate_limited") else kindly(it) }
        server.retryAfter = "30"
        device.self()
        assertEquals(listOf(30_000L), pocket.pauses)
        server.asked.clear()
        server.retryAfter = "31"
        assertEquals("rate_limited", refused { device.self() })
        assertEquals(1, server.asked.size)
    }

    @Test
    fun `the clock is corrected once and the correction kept`() {
        val serverTime = pocket.nowMs + 3_600_000
        server.answer = {
            if (it.timestamp < serverTime) refusal(401, "unauthorized", ""","kind":"clock_skew","server_time":$serverTime""") else kindly(it)
        }
        device.self()
        assertEquals(2, server.asked.size)
        pocket.open(server).self()
        assertEquals(3, server.asked.size)
        assertEquals(3_600_000, device.state().clockOffsetMs)
        server.answer = { refusal(401, "unauthorized", ""","kind":"clock_skew","server_time":$serverTime""") }
        assertEquals("clock_skew", refused { device.self() })
        assertEquals(5, server.asked.size)
    }

    @Test
    fun `a forced update quiets it for a minute, then it asks again, and any answer ends it`() {
        server.answer = { refusal(426, "upgrade_required", ""","min_supported":2,"current":3""") }
        assertEquals("upgrade_required", refused { device.self() })
        assertEquals(listOf(DeviceStatus.ENROLLED, 2L, 3L), device.state().run { listOf(status, notice?.minSupported, notice?.current) })
        pocket.nowMs += 59_999
        assertEquals("upgrade_required", refused { device.self() })
        assertEquals(1, server.asked.size)
        pocket.nowMs += 1
        server.answer = ::kindly
        device.self()
        assertEquals(2, server.asked.size)
        assertNull(device.state().notice)
    }

    @Test
    fun `a newer SDK does not mind the notice of an older one`() {
        pocket.store.save(pocket.store.load()!!.with(BASE_URL, ServerMemory(0, UpgradeNotice(2, 2, "0.0.1", pocket.nowMs))))
        device.self()
        assertNull(device.state().notice)
    }
}
