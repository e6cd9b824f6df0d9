// Where private keys live: an interface. Android's is AndroidKeystoreVault; jvm/SoftwareVault is for tests and machines that act as phones.
package gatehouse.device

import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable

/** `POP` signs silently, `UV` only after the person's biometrics or passcode, and approves. */
@Serializable
enum class KeyPurpose(val text: String) {
    @SerialName("pop")
    POP("pop"),

    @SerialName("uv")
    UV("uv"),
}

/**
 * A key as it was made. `handle` names the private key inside the vault; `publicKey` is SPKI DER in base64; `alg` is `ES256`, `EdDSA`
 * or `RS256`.
 */
data class VaultKey(val handle: String, val publicKey: String, val alg: String)

interface KeyVault {
    /** Makes a key; the vault picks the algorithm. */
    fun create(purpose: KeyPurpose): VaultKey

    /** Signs with a key; may show a prompt and wait for the person. ES256 as DER or 64 bytes. */
    fun sign(handle: String, text: ByteArray): ByteArray

    /** Deletes a key; one that is not there is no error. */
    fun remove(handle: String)

    /** The handles of every key in the vault. */
    fun list(): List<String>
}
