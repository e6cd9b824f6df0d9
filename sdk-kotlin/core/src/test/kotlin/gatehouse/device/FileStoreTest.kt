package gatehouse.device

import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.Executors
import kotlinx.serialization.builtins.serializer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class FileStoreTest {
    @TempDir
    lateinit var folder: Path

    @Test
    fun `keeps a value for the next process, readable by its owner alone`() {
        val file = folder.resolve("phone.json")
        assertNull(FileStore(file, PhoneState.serializer()).load())
        val state = PhoneState(servers = mapOf("https://id.example" to ServerMemory(42, UpgradeNotice(2, null, SDK_VERSION, 7))))
        FileStore(file, PhoneState.serializer()).save(PhoneState())
        FileStore(file, PhoneState.serializer()).save(state)
        assertEquals(state, FileStore(file, PhoneState.serializer()).load())
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
    }

    @Test
    fun `makes the folder of its file, for its owner alone`() {
        val parent = folder.resolve("phones/first")
        val store = FileStore(parent.resolve("phone.json"), PhoneState.serializer())
        store.exclusive { store.save(PhoneState()) }
        assertEquals(PhoneState(), store.load())
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(parent)))
    }

    @Test
    fun `what a newer SDK wrote is read, and a file left half written does not matter`() {
        val file = folder.resolve("phone.json")
        Files.writeString(file, """{"accounts":[],"servers":{},"later":{"a":1}}""")
        Files.writeString(folder.resolve("phone.json.new"), "{")
        val store = FileStore(file, PhoneState.serializer())
        assertEquals(PhoneState(), store.load())
        store.save(PhoneState())
        assertEquals(PhoneState(), store.load())
    }

    @Test
    fun `works of one file take turns, through whichever object they come`() {
        val file = folder.resolve("count.json")
        val threads = Executors.newFixedThreadPool(8)
        val works = List(80) {
            threads.submit {
                val store = FileStore(file, Int.serializer())
                store.exclusive { store.save((store.load() ?: 0) + 1) }
            }
        }
        works.forEach { it.get() }
        threads.shutdown()
        assertEquals(80, FileStore(file, Int.serializer()).load())
    }
}
