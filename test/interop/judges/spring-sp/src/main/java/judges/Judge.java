// One program, two judges: the SAML service provider, or with the profile `oidc` the OpenID Connect relying party.
package judges;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class Judge {
  public static void main(String[] arguments) {
    SpringApplication.run(Judge.class, arguments);
  }
}
