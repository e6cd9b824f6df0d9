// An OpenID Connect relying party made of Spring Security, as its documentation sets one up: every registration from its issuer's
// discovery document, sign-out there too. Arguments: server.port and those of Spring Boot,
// spring.security.oauth2.client.{registration,provider}.<name>.*.
package judges;

import java.util.Map;
import java.util.TreeMap;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.annotation.RegisteredOAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@Configuration
@Profile("oidc")
@RestController
public class SpringRp {
  /** Who has signed in: the claims of the ID token and of UserInfo, and the scopes of the access token. */
  @GetMapping("/")
  Map<String, Object> page(@AuthenticationPrincipal OidcUser person, @RegisteredOAuth2AuthorizedClient OAuth2AuthorizedClient client) {
    return Map.of(
        "id_token", new TreeMap<>(person.getIdToken().getClaims()),
        "userinfo", new TreeMap<>(person.getUserInfo().getClaims()),
        "scopes", client.getAccessToken().getScopes(),
        "refreshable", client.getRefreshToken() != null);
  }

  @GetMapping("/signed-out")
  String signedOut() {
    return "signed out";
  }

  @Bean
  SecurityFilterChain chain(HttpSecurity http, ClientRegistrationRepository registrations) throws Exception {
    var signOutThereToo = new OidcClientInitiatedLogoutSuccessHandler(registrations);
    signOutThereToo.setPostLogoutRedirectUri("{baseUrl}/signed-out");
    return http.authorizeHttpRequests(requests -> requests
            .requestMatchers("/signed-out").permitAll()
            .anyRequest().authenticated())
        .oauth2Login(Customizer.withDefaults())
        .oauth2Client(Customizer.withDefaults())
        .logout(logout -> logout.logoutSuccessHandler(signOutThereToo))
        .build();
  }
}
