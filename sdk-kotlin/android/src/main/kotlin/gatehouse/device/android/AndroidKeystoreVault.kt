// Keys in the Android Keystore, in StrongBox where the phone has one. Compiled against Android's classes; it has never run on a phone.
package gatehouse.device.android

import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties.AUTH_BIOMETRIC_STRONG
import android.security.keystore.KeyProperties.AUTH_DEVICE_CREDENTIAL
import android.security.keystore.KeyProperties.DIGEST_SHA256
import android.security.keystore.KeyProperties.KEY_ALGORITHM_EC
import android.security.keystore.KeyProperties.PURPOSE_SIGN
import android.security.keystore.StrongBoxUnavailableException
import gatehouse.device.KeyPurpose
import gatehouse.device.KeyVault
import gatehouse.device.VaultKey
import java.security.KeyPair
import java.security.KeyPairGenerator
import java.security.KeyStore
import java.security.PrivateKey
import java.security.Signature
import java.security.spec.ECGenParameterSpec
import java.util.Base64
import java.util.UUID

/**
 * ES256 keys that never leave the phone's secure hardware; signatures are DER. Android 11 (API 30) or newer.
 *
 * @param unlock asks the person before each signature with a `uv` key: shows a BiometricPrompt with `CryptoObject(signature)` that takes
 *   strong biometrics or the screen lock, waits, and returns the unlocked signature; throws when the person turns away. Called on
 *   the thread of the SDK's call, which may not be the main one.
 */
class AndroidKeystoreVault(private val unlock: (Signature) -> Signature) : KeyVault {
    private val keys = KeyStore.getInstance(PROVIDER).apply { load(null) }

    override fun create(purpose: KeyPurpose): VaultKey {
        val handle = "$PREFIX${purpose.text}.${UUID.randomUUID()}"
        val pair = try {
            generate(specOf(handle, purpose).setIsStrongBoxBacked(true).build())
        } catch (_: StrongBoxUnavailableException) {
            generate(specOf(handle, purpose).build())
        }
        return VaultKey(handle, Base64.getEncoder().encodeToString(pair.public.encoded), "ES256")
    }

    override fun sign(handle: String, text: ByteArray): ByteArray {
        val key = keys.getKey(handle, null) as? PrivateKey ?: error("expected a private key under $handle, found none")
        val signature = Signature.getInstance("SHA256withECDSA").apply { initSign(key) }
        val unlocked = if (handle.startsWith("$PREFIX${KeyPurpose.UV.text}.")) unlock(signature) else signature
        unlocked.update(text)
        return unlocked.sign()
    }

    override fun remove(handle: String) {
        if (keys.containsAlias(handle)) keys.deleteEntry(handle)
    }

    override fun list(): List<String> = keys.aliases().toList().filter { it.startsWith(PREFIX) }
}

private const val PROVIDER = "AndroidKeyStore"
private const val PREFIX = "gatehouse."

private fun specOf(handle: String, purpose: KeyPurpose): KeyGenParameterSpec.Builder {
    val spec = KeyGenParameterSpec.Builder(handle, PURPOSE_SIGN)
        .setAlgorithmParameterSpec(ECGenParameterSpec("secp256r1"))
        .setDigests(DIGEST_SHA256)
    if (purpose == KeyPurpose.POP) return spec
    // Zero seconds: one unlocking serves one signature.
    return spec.setUserAuthenticationRequired(true).setUserAuthenticationParameters(0, AUTH_BIOMETRIC_STRONG or AUTH_DEVICE_CREDENTIAL)
}

private fun generate(spec: KeyGenParameterSpec): KeyPair =
    KeyPairGenerator.getInstance(KEY_ALGORITHM_EC, PROVIDER).apply { initialize(spec) }.generateKeyPair()
