// The links of QR codes. Everything secret stands in the fragment, so no server logs it.
package gatehouse.device

data class EnrollmentLink(val baseUrl: String, val token: String)

data class SignInLink(val baseUrl: String, val code: String)

/** The token inside an enrolment link, or null when the text is none. */
fun parseEnrollmentLink(text: String): EnrollmentLink? =
    enrollmentLink.matchEntire(text)?.destructured?.let { (baseUrl, token) -> EnrollmentLink(baseUrl, token) }

/** The code inside the link of a sign-in page, or null when the text is none. */
fun parseSignInLink(text: String): SignInLink? =
    signInLink.matchEntire(text)?.destructured?.let { (baseUrl, code) -> SignInLink(baseUrl, code) }

private val enrollmentLink = Regex("""(https?://[^#?\s]+)/enroll#v=1&t=([A-Za-z0-9_-]+)""")
private val signInLink = Regex("""(https?://[^#?\s]+)/scan#v=1&c=([A-Za-z0-9._-]+)""")
