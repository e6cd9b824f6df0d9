# Clients that write the whole request before they read a byte of the answer: prints the status of each of N posts of a body of
# BYTES to URL, one to a line. Arguments: URL TOKEN BYTES N.
import http.client
import sys
from urllib.parse import urlsplit

url, token, size, times = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
address = urlsplit(url)
for _ in range(times):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    connection.request("POST", address.path, b"x" * size, {"Authorization": "Bearer " + token, "Content-Type": "application/scim+json"})
    print(connection.getresponse().status)
    connection.close()
