// The example of the README compiles, because it is this function.
package gatehouse.device

import gatehouse.device.jvm.JdkTransport
import gatehouse.device.jvm.SoftwareKey
import gatehouse.device.jvm.SoftwareVault
import java.io.File
import java.nio.file.Path
import kotlinx.serialization.builtins.MapSerializer
import kotlinx.serialization.builtins.serializer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

fun example(folder: Path) {
    val keys = FileStore(folder.resolve("keys.json"), MapSerializer(String.serializer(), SoftwareKey.serializer()))
    val phone = FileStore(folder.resolve("phone.json"), PhoneState.serializer())
    val device = Device("https://login.example", phone, SoftwareVault(keys), JdkTransport())
    device.resume() // finishes whatever an earlier process was in the middle of
    device.startRegistration(Person("ada@example.com", DeviceDescription("android", "Ada’s phone")))
    device.verifyPin("123456") // from the mail
    when (val outcome = device.enroll()) {
        is EnrollOutcome.Enrolled -> println(outcome.deviceId)
        is EnrollOutcome.PendingApproval -> println(outcome.number) // to type on another phone
    }
    for (approval in device.listApprovals(waitSeconds = 25)) device.approve(approval, "47") // the number the browser shows
    device.rotateKeys()
}

class ReadmeTest {
    @Test
    fun `the example of the README is the function above`() {
        val source = File("src/test/kotlin/gatehouse/device/ReadmeTest.kt").readText()
        val block = File("../README.md").readText().substringAfter("```kotlin\n").substringBefore("\n```")
        assertEquals(source.substringAfter("fun example(folder: Path) {\n").substringBefore("\n}\n").trimIndent(), block)
    }
}
