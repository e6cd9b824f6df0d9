// A service provider made of Spring Security, as its documentation sets one up. Its registrations are read from the identity
// provider's metadata, a file for each name, whenever they are needed. Arguments: server.port, judge.folder (with
// sp.key, sp.crt and <name>.xml).
package judges;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAPrivateKey;
import java.util.List;
import org.opensaml.xmlsec.signature.support.SignatureConstants;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.converter.RsaKeyConverters;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.saml2.core.Saml2X509Credential;
import org.springframework.security.saml2.provider.service.authentication.Saml2AuthenticatedPrincipal;
import org.springframework.security.saml2.provider.service.registration.RelyingPartyRegistration;
import org.springframework.security.saml2.provider.service.registration.RelyingPartyRegistrationRepository;
import org.springframework.security.saml2.provider.service.registration.RelyingPartyRegistrations;
import org.springframework.security.saml2.provider.service.registration.Saml2MessageBinding;
import org.springframework.security.saml2.provider.service.metadata.OpenSamlMetadataResolver;
import org.springframework.security.saml2.provider.service.servlet.filter.Saml2WebSsoAuthenticationFilter;
import org.springframework.security.saml2.provider.service.web.DefaultRelyingPartyRegistrationResolver;
import org.springframework.security.saml2.provider.service.web.RelyingPartyRegistrationResolver;
import org.springframework.security.saml2.provider.service.web.Saml2MetadataFilter;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@Configuration
@Profile("!oidc")
@RestController
public class SpringSp {
  @GetMapping("/")
  String page(@AuthenticationPrincipal Saml2AuthenticatedPrincipal person) {
    return "signed in as " + person.getName() + ", " + person.getAttributes();
  }

  @Bean
  SecurityFilterChain chain(HttpSecurity http, RelyingPartyRegistrationRepository registrations) throws Exception {
    var resolver = new DefaultRelyingPartyRegistrationResolver(registrations);
    var metadata = new Saml2MetadataFilter((RelyingPartyRegistrationResolver) resolver, new OpenSamlMetadataResolver());
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .saml2Login(Customizer.withDefaults())
        .addFilterBefore(metadata, Saml2WebSsoAuthenticationFilter.class)
        .build();
  }

  @Bean
  RelyingPartyRegistrationRepository registrations(@Value("${judge.folder}") Path folder) throws Exception {
    RSAPrivateKey key = read(folder.resolve("sp.key"), RsaKeyConverters.pkcs8()::convert);
    X509Certificate certificate =
        read(folder.resolve("sp.crt"), file -> (X509Certificate) factory().generateCertificate(file));
    return name -> {
      try (InputStream metadata = Files.newInputStream(folder.resolve(name + ".xml"))) {
        return registration(name, metadata, key, certificate);
      } catch (IOException absent) {
        return null;
      }
    };
  }

  /**
   * The identity provider's metadata says whether to sign, and its first address is taken. A name that ends with "-post" is the
   * same provider asking by POST; "sha1" signs as nobody should.
   */
  private static RelyingPartyRegistration registration(
      String name, InputStream metadata, RSAPrivateKey key, X509Certificate certificate) {
    String provider = name.replace("-post", "");
    return RelyingPartyRegistrations.fromMetadata(metadata)
        .registrationId(name)
        .entityId("{baseUrl}/saml2/service-provider-metadata/" + provider)
        .assertionConsumerServiceLocation("{baseUrl}/login/saml2/sso/" + provider)
        .signingX509Credentials(all -> all.add(Saml2X509Credential.signing(key, certificate)))
        .decryptionX509Credentials(all -> all.add(Saml2X509Credential.decryption(key, certificate)))
        .assertingPartyDetails(party -> {
          if (!name.equals(provider)) party.singleSignOnServiceBinding(Saml2MessageBinding.POST);
          if (name.equals("sha1")) party.signingAlgorithms(all -> all.addAll(0, List.of(SignatureConstants.ALGO_ID_SIGNATURE_RSA_SHA1)));
        })
        .build();
  }

  private interface Reader<T> {
    T read(InputStream file) throws Exception;
  }

  private static <T> T read(Path path, Reader<T> reader) throws Exception {
    try (InputStream file = Files.newInputStream(path)) {
      return reader.read(file);
    }
  }

  private static CertificateFactory factory() throws Exception {
    return CertificateFactory.getInstance("X.509");
  }
}
