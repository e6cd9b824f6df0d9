// As write-first.py, with the client of the Java platform that writes the whole body before it looks at the answer.
import java.net.HttpURLConnection;
import java.net.URI;

public class WriteFirst {
  public static void main(String[] arguments) throws Exception {
    byte[] body = new byte[Integer.parseInt(arguments[2])];
    for (int time = 0; time < Integer.parseInt(arguments[3]); time += 1) {
      var connection = (HttpURLConnection) URI.create(arguments[0]).toURL().openConnection();
      connection.setRequestMethod("POST");
      connection.setDoOutput(true);
      connection.setFixedLengthStreamingMode(body.length);
      connection.setRequestProperty("Authorization", "Bearer " + arguments[1]);
      connection.setRequestProperty("Content-Type", "application/scim+json");
      try (var out = connection.getOutputStream()) {
        out.write(body);
      }
      System.out.println(connection.getResponseCode());
    }
  }
}
