package gatehouse.device

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

class LinksTest {
    @Test
    fun `reads an enrolment link and nothing that merely looks like one`() {
        val link = parseEnrollmentLink("https://id.example/t/acme/enroll#v=1&t=Ab-_9")
        assertEquals(EnrollmentLink("https://id.example/t/acme", "Ab-_9"), link)
        for (text in listOf(
            "",
            "id.example/enroll#v=1&t=Ab",
            "ftp://id.example/enroll#v=1&t=Ab",
            "https://id.example/enroll?v=1&t=Ab",
            "https://id.example/enroll#v=2&t=Ab",
            "https://id.example/enroll#v=1&t=",
            "https://id.example/enroll#v=1&t=Ab\n",
            "https://id.example/?/enroll#v=1&t=Ab",
            "https://id.example/scan#v=1&c=Ab",
        )) assertNull(parseEnrollmentLink(text), text)
    }

    @Test
    fun `reads the link of a sign-in page and nothing that merely looks like one`() {
        assertEquals(SignInLink("http://localhost:8080", "a.b-c_d"), parseSignInLink("http://localhost:8080/scan#v=1&c=a.b-c_d"))
        for (text in listOf("https://id.example/scan#v=1&c=a b", "https://id.example/enroll#v=1&t=Ab", " https://id.example/scan#v=1&c=a"))
            assertNull(parseSignInLink(text), text)
    }
}
