// Accounts, drafts and keys: what is kept, what goes, and when.
package gatehouse.device

import gatehouse.device.jvm.SoftwareVault
import kotlinx.serialization.json.JsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class DeviceTest {
    private val pocket = Pocket()
    private val server = Answering(answer = ::kindly)
    private val description = DeviceDescription("android", "Phone")
    private val revoked = refusal(401, "unauthorized", ""","kind":"device_key_revoked"""")

    private fun handles() = pocket.store.load()!!.accounts.flatMap { account -> account.slots.map { it.handle } }.toSet()

    @Test
    fun `several persons and tenants on one phone, each with keys of their own`() {
        val (one, two) = pocket.enrolled(server) to pocket.enrolled(server)
        val elsewhere = pocket.enrolled(Answering("https://other.example", ::kindly), "https://other.example")
        val ids = listOf(one, two, elsewhere).map { it.self().text("device_id") }
        assertEquals(ids, listAccounts(pocket.store).map { it.deviceId })
        assertEquals(6, pocket.keys.load()!!.size)
        assertEquals(ids[1], pocket.open(server).self().text("device_id"))
        assertEquals(ids[0], pocket.open(server, account = ids[0]).self().text("device_id"))
        server.answer = { 204 to "" }
        pocket.open(server, account = ids[0]).apply {
            revokeSelf()
            assertEquals(DeviceStatus.REVOKED, state().status)
            forget()
        }
        assertEquals(ids.drop(1), listAccounts(pocket.store).map { it.deviceId })
        assertEquals(handles(), pocket.keys.load()!!.keys)
    }

    @Test
    fun `a wrong link leaves an enrolled phone as it is`() {
        val device = pocket.enrolled(server)
        val (before, keys) = device.state() to pocket.keys.load()
        server.answer = { refusal(401, "token_invalid") }
        assertThrows(DeviceException::class.java) { device.redeemEnrollment("wrong", description) }
        assertEquals(before to keys, device.state() to pocket.keys.load())
    }

    @Test
    fun `a code of another tenant sends nothing`() {
        val device = pocket.enrolled(server).also { server.asked.clear() }
        assertThrows(IllegalArgumentException::class.java) { device.claim("https://other.example/scan#v=1&c=abc") }
        assertEquals(0, server.asked.size)
    }

    @Test
    fun `keys nobody refers to go with the first change`() {
        val device = pocket.enrolled(server)
        val stray = SoftwareVault(pocket.keys).create(KeyPurpose.POP).handle
        assertTrue(stray in pocket.keys.load()!!)
        pocket.open(server).resume()
        assertEquals(handles(), pocket.keys.load()!!.keys)
        device.self()
    }

    @Test
    fun `a revoked key is believed when the device is asked and says so too`() {
        val device = pocket.enrolled(server)
        server.answer = { if (it.path.startsWith("/approvals")) revoked else kindly(it) }
        assertThrows(DeviceException::class.java) { device.listApprovals() }
        assertEquals(DeviceStatus.ENROLLED, device.state().status)
        server.answer = { revoked }
        assertThrows(DeviceException::class.java) { device.listApprovals() }
        assertEquals(DeviceStatus.REVOKED, device.state().status)
        assertEquals(emptyMap<String, Any>(), pocket.keys.load())
        assertThrows(IllegalStateException::class.java) { device.self() }
    }

    @Test
    fun `another device that decides is waited for with the same body`() {
        val device = pocket.open(server)
        device.redeemEnrollment("t", description)
        server.answer = { if (it.path == "/enroll") 202 to """{"status":"pending_approval","number":"47"}""" else kindly(it) }
        assertEquals(EnrollOutcome.PendingApproval("47"), device.enroll())
        assertEquals(EnrollOutcome.PendingApproval("47"), device.enroll())
        val bodies = server.asked.filter { it.path == "/enroll" }.map { it.body }
        assertEquals(1, bodies.toSet().size)
        server.answer = { refusal(403, "forbidden", ""","kind":"device_denied"""") }
        assertThrows(DeviceException::class.java) { device.enroll() }
        assertNull(device.state().draft)
        assertEquals(emptyMap<String, Any>(), pocket.keys.load())
    }

    @Test
    fun `a claim whose answer was lost is the listed sign-in that the code begins with`() {
        val device = pocket.enrolled(server)
        val approval = { id: String, required: Boolean ->
            """{"id":"$id","type":"oidc_login","client":null,"binding_message":null,"scopes":[],"initiated":{},
               "match":{"required":$required,"digits":2},"expires_at":"later","context_sha256":"x"}"""
        }
        var claims = 0
        server.answer = {
            if (it.path != "/approvals/claim") 200 to """{"items":[${approval("a", true)},${approval("b", true)}]}"""
            else if (claims++ == 0) null else refusal(404, "not_found")
        }
        assertEquals("b", device.claim("$BASE_URL/scan#v=1&c=b.x.y").id)
        assertThrows(DeviceException::class.java) { device.claim("$BASE_URL/scan#v=1&c=b.x.y") }
    }

    @Test
    fun `a decision found decided is one's own only after a lost answer`() {
        val device = pocket.enrolled(server)
        val nobody = JsonObject(emptyMap())
        val approval = Approval("a", "ciba", null, null, emptyList(), nobody, Approval.Match(false, 2), "later", null, "x")
        server.answer = { refusal(409, "approval_not_pending") }
        assertThrows(DeviceException::class.java) { device.approve(approval) }
        var calls = 0
        server.answer = { if (calls++ == 0) null else refusal(409, "approval_not_pending") }
        assertEquals(Decided.DECIDED, device.deny(approval, DenyReason.NOT_ME))
    }

    @Test
    fun `a rotation the server took long ago is finished with the new key`() {
        val device = pocket.enrolled(server)
        val before = device.state().account!!.slots
        val names = before.joinToString(",") { """{"key_id":"${it.keyId}"}""" }
        server.answer = {
            if (it.path.endsWith("start")) 200 to """{"rotation_id":"r","nonce":"n","expires_at":"later","keys":[$names]}""" else null
        }
        assertThrows(NoAnswerException::class.java) { device.rotateKeys() }
        assertEquals(before, device.state().account!!.slots)
        var confirmations = 0
        server.answer = { if (confirmations++ == 0) refusal(401, "unauthorized", ""","kind":"bad_signature"""") else 200 to "{}" }
        pocket.open(server).resume()
        val now = device.state().account!!
        assertEquals(before.map { it.keyId }, now.slots.map { it.keyId })
        assertTrue(now.slots.none { slot -> slot.publicKey in before.map { it.publicKey } })
        assertNull(now.rotation)
        assertEquals(1, server.asked.filter { it.path.endsWith("confirm") }.map { it.body }.toSet().size)
        assertEquals(handles(), pocket.keys.load()!!.keys)
    }

    @Test
    fun `a rotation the server refused leaves the keys as they were`() {
        val device = pocket.enrolled(server)
        val before = device.state().account
        val names = before!!.slots.joinToString(",") { """{"key_id":"${it.keyId}"}""" }
        server.answer = {
            if (it.path.endsWith("start")) 200 to """{"rotation_id":"r","nonce":"n","expires_at":"later","keys":[$names]}"""
            else refusal(400, "rotation_nonce_expired")
        }
        assertThrows(IllegalStateException::class.java) { device.rotateKeys() }
        assertEquals(before, device.state().account)
        assertEquals(handles(), pocket.keys.load()!!.keys)
    }
}
