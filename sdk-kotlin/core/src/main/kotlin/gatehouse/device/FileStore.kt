// A store in one JSON file, readable by its owner only and replaced in one step, whose folder it makes. A lock on a file beside it keeps
// other processes out; the system lets go of it when a process dies.
package gatehouse.device

import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardCopyOption.REPLACE_EXISTING
import java.nio.file.StandardOpenOption.CREATE
import java.nio.file.StandardOpenOption.CREATE_NEW
import java.nio.file.StandardOpenOption.WRITE
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock
import kotlinx.serialization.KSerializer

class FileStore<Value : Any>(path: Path, private val serializer: KSerializer<Value>) : StateStore<Value> {
    private val file = path.toAbsolutePath().normalize()
    private val draft = file.resolveSibling("${file.fileName}.new")
    private val lock = file.resolveSibling("${file.fileName}.lock")

    override fun load(): Value? = try {
        wireJson.decodeFromString(serializer, Files.readAllBytes(file).decodeToString())
    } catch (_: NoSuchFileException) {
        null
    }

    override fun save(value: Value) {
        Files.deleteIfExists(draft)
        FileChannel.open(draft, setOf(WRITE, CREATE_NEW), ownerOnly).use { channel ->
            val bytes = ByteBuffer.wrap(wireJson.encodeToString(serializer, value).toByteArray())
            while (bytes.hasRemaining()) channel.write(bytes)
            channel.force(true)
        }
        Files.move(draft, file, ATOMIC_MOVE, REPLACE_EXISTING)
    }

    override fun <Result> exclusive(work: () -> Result): Result = threads.computeIfAbsent(file) { ReentrantLock() }.withLock {
        if (!Files.isDirectory(file.parent)) Files.createDirectories(file.parent, ownersFolder)
        FileChannel.open(lock, setOf(WRITE, CREATE), ownerOnly).use { channel -> channel.lock().use { work() } }
    }
}

// A file lock is the process's: its threads take turns by locks of their own, one a file.
private val threads = ConcurrentHashMap<Path, ReentrantLock>()

private val ownerOnly = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
private val ownersFolder = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
