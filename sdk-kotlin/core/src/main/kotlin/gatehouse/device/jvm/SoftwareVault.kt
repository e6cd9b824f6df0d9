// A vault that keeps PKCS#8 keys in a store: for simulators, tests and machines that act as phones. Anyone who reads the store has the keys.
package gatehouse.device.jvm

import gatehouse.device.KeyPurpose
import gatehouse.device.KeyVault
import gatehouse.device.StateStore
import gatehouse.device.VaultKey
import java.security.KeyFactory
import java.security.KeyPair
import java.security.KeyPairGenerator
import java.security.Signature
import java.security.spec.ECGenParameterSpec
import java.security.spec.PKCS8EncodedKeySpec
import java.util.Base64
import java.util.UUID
import kotlinx.serialization.Serializable

/** The algorithms of the protocol and what Java calls them; ES256 signatures are DER. */
enum class SoftwareAlgorithm(val text: String, internal val keys: String, internal val signatures: String) {
    ES256("ES256", "EC", "SHA256withECDSA"),
    EDDSA("EdDSA", "Ed25519", "Ed25519"),
    RS256("RS256", "RSA", "SHA256withRSA"),
}

/** A private key: PKCS#8 DER in base64. */
@Serializable
data class SoftwareKey(val algorithm: SoftwareAlgorithm, val pkcs8: String) {
    fun sign(text: ByteArray): ByteArray {
        val key = KeyFactory.getInstance(algorithm.keys).generatePrivate(PKCS8EncodedKeySpec(Base64.getDecoder().decode(pkcs8)))
        return Signature.getInstance(algorithm.signatures).run {
            initSign(key)
            update(text)
            sign()
        }
    }
}

class SoftwareVault(
    private val store: StateStore<Map<String, SoftwareKey>>,
    private val algorithmOf: (KeyPurpose) -> SoftwareAlgorithm = { SoftwareAlgorithm.ES256 },
) : KeyVault {
    override fun create(purpose: KeyPurpose): VaultKey {
        val algorithm = algorithmOf(purpose)
        val pair = generate(algorithm)
        val handle = UUID.randomUUID().toString()
        change { it + (handle to SoftwareKey(algorithm, Base64.getEncoder().encodeToString(pair.private.encoded))) }
        return VaultKey(handle, Base64.getEncoder().encodeToString(pair.public.encoded), algorithm.text)
    }

    override fun sign(handle: String, text: ByteArray): ByteArray =
        (keys()[handle] ?: error("expected a private key under $handle, found none")).sign(text)

    override fun remove(handle: String) = change { it - handle }

    override fun list(): List<String> = keys().keys.toList()

    private fun keys(): Map<String, SoftwareKey> = store.load().orEmpty()

    private fun change(make: (Map<String, SoftwareKey>) -> Map<String, SoftwareKey>) = store.exclusive { store.save(make(keys())) }
}

private fun generate(algorithm: SoftwareAlgorithm): KeyPair {
    val generator = KeyPairGenerator.getInstance(algorithm.keys)
    when (algorithm) {
        SoftwareAlgorithm.ES256 -> generator.initialize(ECGenParameterSpec("secp256r1"))
        SoftwareAlgorithm.RS256 -> generator.initialize(2048)
        SoftwareAlgorithm.EDDSA -> Unit
    }
    return generator.generateKeyPair()
}
