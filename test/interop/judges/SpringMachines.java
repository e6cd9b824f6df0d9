// Spring Security's providers of the grants of machines, as its documentation sets them up, run by `java -cp <jars of Spring> SpringMachines.java`:
// `bearer <issuer> <client id> <secret> <private JWK>` gets a token by an assertion that the program signs, `exchange <issuer> <client id>
// <secret> <subject token> <resource>` one of the next API for the person who called. Prints it, or the code of what was refused.
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.oauth2.client.JwtBearerOAuth2AuthorizedClientProvider;
import org.springframework.security.oauth2.client.OAuth2AuthorizationContext;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientProvider;
import org.springframework.security.oauth2.client.TokenExchangeOAuth2AuthorizedClientProvider;
import org.springframework.security.oauth2.client.endpoint.RestClientTokenExchangeTokenResponseClient;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.OAuth2AccessToken;
import org.springframework.security.oauth2.core.OAuth2AuthorizationException;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.JwsHeader;
import org.springframework.security.oauth2.jwt.JwtClaimsSet;
import org.springframework.security.oauth2.jwt.JwtEncoderParameters;
import org.springframework.security.oauth2.jwt.NimbusJwtEncoder;

public class SpringMachines {
  public static void main(String[] arguments) throws Exception {
    String issuer = arguments[1];
    boolean isBearer = arguments[0].equals("bearer");
    ClientRegistration registration = ClientRegistrations.fromIssuerLocation(issuer)
        .registrationId("machine")
        .clientId(arguments[2])
        .clientSecret(arguments[3])
        .authorizationGrantType(isBearer ? AuthorizationGrantType.JWT_BEARER : AuthorizationGrantType.TOKEN_EXCHANGE)
        .build();
    OAuth2AuthorizedClientProvider provider = isBearer ? bearer(issuer, arguments[2], arguments[4]) : exchange(arguments[4], arguments[5]);
    var principal = new TestingAuthenticationToken("machine", null, List.of());
    try {
      var context = OAuth2AuthorizationContext.withClientRegistration(registration).principal(principal).build();
      System.out.println(provider.authorize(context).getAccessToken().getTokenValue());
    } catch (OAuth2AuthorizationException refused) {
      System.out.println(refused.getError().getErrorCode());
    }
  }

  static OAuth2AuthorizedClientProvider bearer(String issuer, String clientId, String jwk) throws Exception {
    var encoder = new NimbusJwtEncoder(new ImmutableJWKSet<>(new JWKSet(JWK.parse(jwk))));
    var provider = new JwtBearerOAuth2AuthorizedClientProvider();
    provider.setJwtAssertionResolver(context -> {
      Instant now = Instant.now();
      var claims = JwtClaimsSet.builder()
          .issuer(clientId)
          .subject(clientId)
          .audience(List.of(issuer))
          .id(UUID.randomUUID().toString())
          .issuedAt(now)
          .expiresAt(now.plusSeconds(60))
          .build();
      return encoder.encode(JwtEncoderParameters.from(JwsHeader.with(SignatureAlgorithm.ES256).build(), claims));
    });
    return provider;
  }

  static OAuth2AuthorizedClientProvider exchange(String token, String resource) {
    var client = new RestClientTokenExchangeTokenResponseClient();
    client.addParametersConverter(request -> {
      var parameters = new org.springframework.util.LinkedMultiValueMap<String, String>();
      parameters.add("resource", resource);
      return parameters;
    });
    var provider = new TokenExchangeOAuth2AuthorizedClientProvider();
    provider.setAccessTokenResponseClient(client);
    var now = Instant.now();
    provider.setSubjectTokenResolver(context -> new OAuth2AccessToken(OAuth2AccessToken.TokenType.BEARER, token, now, now.plusSeconds(300)));
    return provider;
  }
}
