// A SCIM service in memory whose judgement is UnboundID's SCIM 2 SDK alone: its schemas check what is sent, its patches are applied by it,
// its filters find. Here are only the addresses, the token and the map people and groups lie in. Arguments: a port and a bearer token.
package judges;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.unboundid.scim2.common.GenericScimResource;
import com.unboundid.scim2.common.exceptions.BadRequestException;
import com.unboundid.scim2.common.exceptions.ResourceConflictException;
import com.unboundid.scim2.common.exceptions.ResourceNotFoundException;
import com.unboundid.scim2.common.exceptions.ScimException;
import com.unboundid.scim2.common.filters.Filter;
import com.unboundid.scim2.common.filters.FilterType;
import com.unboundid.scim2.common.messages.ErrorResponse;
import com.unboundid.scim2.common.messages.ListResponse;
import com.unboundid.scim2.common.messages.PatchRequest;
import com.unboundid.scim2.common.types.AuthenticationScheme;
import com.unboundid.scim2.common.types.BulkConfig;
import com.unboundid.scim2.common.types.ChangePasswordConfig;
import com.unboundid.scim2.common.types.ETagConfig;
import com.unboundid.scim2.common.types.EnterpriseUserExtension;
import com.unboundid.scim2.common.types.FilterConfig;
import com.unboundid.scim2.common.types.GroupResource;
import com.unboundid.scim2.common.types.PatchConfig;
import com.unboundid.scim2.common.types.SchemaResource;
import com.unboundid.scim2.common.types.ServiceProviderConfigResource;
import com.unboundid.scim2.common.types.SortConfig;
import com.unboundid.scim2.common.types.UserResource;
import com.unboundid.scim2.common.utils.FilterEvaluator;
import com.unboundid.scim2.common.utils.JsonUtils;
import com.unboundid.scim2.common.utils.SchemaUtils;
import com.unboundid.scim2.server.utils.ResourceTypeDefinition;
import com.unboundid.scim2.server.utils.SchemaChecker;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

public class UnboundidTarget {
  /** People, or groups. */
  private static final class Kind {
    final SchemaChecker checker;
    final String unique;
    final Map<String, ObjectNode> all = new LinkedHashMap<>();
    final Map<String, String> idsByName = new HashMap<>();

    Kind(ResourceTypeDefinition type, String unique) {
      this.checker = new SchemaChecker(type);
      this.unique = unique;
    }

    void put(ObjectNode one) {
      remove(one.path("id").asText());
      all.put(one.path("id").asText(), one);
      idsByName.put(nameOf(one), one.path("id").asText());
    }

    void remove(String id) {
      ObjectNode removed = all.remove(id);
      if (removed != null) idsByName.remove(nameOf(removed));
    }

    /** What a filter has to look at: one, when it asks for a name alone. */
    Collection<ObjectNode> among(Filter filter) {
      if (filter == null || filter.getFilterType() != FilterType.EQUAL || !filter.getAttributePath().toString().equalsIgnoreCase(unique)) return all.values();
      String id = idsByName.get(filter.getComparisonValue().asText().toLowerCase(Locale.ROOT));
      return id == null ? List.of() : List.of(all.get(id));
    }

    private String nameOf(ObjectNode one) {
      return one.path(unique).asText().toLowerCase(Locale.ROOT);
    }
  }

  private final Map<String, Kind> kinds = new HashMap<>();
  private final String token;

  private UnboundidTarget(String token) throws Exception {
    this.token = token;
    kinds.put("Users", new Kind(new ResourceTypeDefinition.Builder("User", "/Users").setCoreSchema(SchemaUtils.getSchema(UserResource.class))
        .addOptionalSchemaExtension(SchemaUtils.getSchema(EnterpriseUserExtension.class)).build(), "userName"));
    kinds.put("Groups", new Kind(new ResourceTypeDefinition.Builder("Group", "/Groups").setCoreSchema(groupSchema()).build(), "displayName"));
  }

  /** The SDK's class demands $ref of every member; RFC 7643 section 8.7.1 does not. */
  private static SchemaResource groupSchema() throws Exception {
    ObjectNode schema = JsonUtils.valueToNode(SchemaUtils.getSchema(GroupResource.class));
    for (JsonNode attribute : schema.path("attributes"))
      for (JsonNode part : attribute.path("subAttributes"))
        if (part.path("name").asText().equals("$ref")) ((ObjectNode) part).put("required", false);
    return JsonUtils.nodeToValue(schema, SchemaResource.class);
  }

  public static void main(String[] args) throws Exception {
    UnboundidTarget target = new UnboundidTarget(args[1]);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/v2", target::handle);
    server.start();
  }

  private synchronized void handle(HttpExchange exchange) throws IOException {
    try {
      if (!("Bearer " + token).equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
        answer(exchange, 401, null);
        return;
      }
      serve(exchange);
    } catch (ScimException fault) {
      ErrorResponse error = fault.getScimError();
      answer(exchange, error.getStatus(), error);
    } catch (RuntimeException | IOException fault) {
      answer(exchange, 400, new BadRequestException(String.valueOf(fault.getMessage()), BadRequestException.INVALID_SYNTAX).getScimError());
    }
  }

  private void serve(HttpExchange exchange) throws ScimException, IOException {
    String[] path = exchange.getRequestURI().getPath().substring("/v2/".length()).split("/");
    if (path[0].equals("ServiceProviderConfig")) {
      answer(exchange, 200, configuration());
      return;
    }
    Kind kind = kinds.get(path[0]);
    if (kind == null) throw new ResourceNotFoundException("No such address");
    String method = exchange.getRequestMethod();
    if (path.length == 1) {
      if (method.equals("POST")) answer(exchange, 201, create(kind, path[0], body(exchange)));
      else answer(exchange, 200, search(kind, parameters(exchange)));
      return;
    }
    ObjectNode found = kind.all.get(path[1]);
    if (found == null) throw new ResourceNotFoundException("Resource " + path[1] + " not found");
    switch (method) {
      case "PATCH" -> answer(exchange, 200, patch(kind, found, JsonUtils.getObjectReader().forType(PatchRequest.class).readValue(body(exchange))));
      case "PUT" -> answer(exchange, 200, replace(kind, found, body(exchange)));
      case "DELETE" -> {
        kind.remove(path[1]);
        answer(exchange, 204, null);
      }
      default -> answer(exchange, 200, found);
    }
  }

  private ObjectNode create(Kind kind, String name, ObjectNode sent) throws ScimException {
    ObjectNode made = kind.checker.removeReadOnlyAttributes(sent);
    kind.checker.checkCreate(made).throwSchemaExceptions();
    if (kind.idsByName.containsKey(kind.nameOf(made))) throw ResourceConflictException.uniqueness("Taken");
    String id = UUID.randomUUID().toString();
    made.put("id", id).putObject("meta").put("resourceType", name.substring(0, name.length() - 1)).put("location", "/v2/" + name + "/" + id);
    kind.put(made);
    return made;
  }

  private ObjectNode patch(Kind kind, ObjectNode found, PatchRequest request) throws ScimException {
    kind.checker.checkModify(request.getOperations(), found).throwSchemaExceptions();
    GenericScimResource changed = new GenericScimResource(found.deepCopy());
    request.apply(changed);
    kind.put(changed.getObjectNode());
    return changed.getObjectNode();
  }

  private ObjectNode replace(Kind kind, ObjectNode found, ObjectNode sent) throws ScimException {
    ObjectNode replacement = kind.checker.removeReadOnlyAttributes(sent);
    kind.checker.checkReplace(replacement, found).throwSchemaExceptions();
    replacement.set("id", found.get("id"));
    replacement.set("meta", found.get("meta"));
    kind.put(replacement);
    return replacement;
  }

  private ListResponse<GenericScimResource> search(Kind kind, Map<String, String> parameters) throws ScimException {
    Filter filter = parameters.containsKey("filter") ? Filter.fromString(parameters.get("filter")) : null;
    List<GenericScimResource> found = new ArrayList<>();
    for (ObjectNode one : kind.among(filter)) if (filter == null || FilterEvaluator.evaluate(filter, one)) found.add(new GenericScimResource(one));
    int start = Math.max(1, Integer.parseInt(parameters.getOrDefault("startIndex", "1")));
    int count = Integer.parseInt(parameters.getOrDefault("count", "100"));
    List<GenericScimResource> page = found.subList(Math.min(start - 1, found.size()), Math.min(start - 1 + count, found.size()));
    return new ListResponse<>(found.size(), page, start, page.size());
  }

  private static ServiceProviderConfigResource configuration() {
    return new ServiceProviderConfigResource("https://example.com/", new PatchConfig(true), new BulkConfig(false, 0, 0), new FilterConfig(true, 1000),
        new ChangePasswordConfig(false), new SortConfig(false), new ETagConfig(false),
        List.of(new AuthenticationScheme("Token", "A bearer token", null, null, "oauthbearertoken", true)));
  }

  private static ObjectNode body(HttpExchange exchange) throws IOException {
    return (ObjectNode) JsonUtils.getObjectReader().readTree(exchange.getRequestBody());
  }

  private static Map<String, String> parameters(HttpExchange exchange) {
    Map<String, String> parameters = new HashMap<>();
    String query = exchange.getRequestURI().getRawQuery();
    if (query != null) Arrays.stream(query.split("&")).map((each) -> each.split("=", 2))
        .forEach((pair) -> parameters.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8)));
    return parameters;
  }

  private static void answer(HttpExchange exchange, int status, Object body) throws IOException {
    byte[] bytes = body == null ? new byte[0] : JsonUtils.getObjectWriter().writeValueAsBytes(body);
    exchange.getResponseHeaders().set("Content-Type", "application/scim+json");
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
