// What a program written with UnboundID's SCIM 2 SDK does to a service: discovery, people, groups, filters, errors. Prints one
// line of JSON for each step: its name and, when it failed, why. Arguments: base address, token.
package judges;

import com.fasterxml.jackson.databind.node.TextNode;
import com.unboundid.scim2.client.ScimService;
import com.unboundid.scim2.common.exceptions.BadRequestException;
import com.unboundid.scim2.common.exceptions.NotModifiedException;
import com.unboundid.scim2.common.exceptions.ResourceConflictException;
import com.unboundid.scim2.common.exceptions.ResourceNotFoundException;
import com.unboundid.scim2.common.filters.Filter;
import com.unboundid.scim2.common.messages.ListResponse;
import com.unboundid.scim2.common.messages.SortOrder;
import com.unboundid.scim2.common.types.Email;
import com.unboundid.scim2.common.types.EnterpriseUserExtension;
import com.unboundid.scim2.common.types.GroupResource;
import com.unboundid.scim2.common.types.Member;
import com.unboundid.scim2.common.types.Name;
import com.unboundid.scim2.common.types.PhoneNumber;
import com.unboundid.scim2.common.types.UserResource;
import com.unboundid.scim2.common.utils.JsonUtils;
import jakarta.ws.rs.client.Client;
import jakarta.ws.rs.client.ClientBuilder;
import jakarta.ws.rs.client.ClientRequestFilter;
import java.util.concurrent.Callable;
import org.glassfish.jersey.apache.connector.ApacheConnectorProvider;
import org.glassfish.jersey.client.ClientConfig;

public class Unboundid {
  private static final String USER = "urn:ietf:params:scim:schemas:core:2.0:User";
  private static UserResource ada;
  private static UserResource bob;
  private static GroupResource team;

  public static void main(String[] arguments) {
    Client client = ClientBuilder.newClient(new ClientConfig().connectorProvider(new ApacheConnectorProvider()));
    client.register((ClientRequestFilter) request -> request.getHeaders().putSingle("Authorization", "Bearer " + arguments[1]));
    ScimService scim = new ScimService(client.target(arguments[0]));
    discovery(scim);
    people(scim);
    lists(scim);
    groups(scim);
    refusals(scim);
    endings(scim);
    client.close();
  }

  private static void discovery(ScimService scim) {
    check("ServiceProviderConfig", () -> scim.getServiceProviderConfig().getPatch().isSupported());
    check("ResourceTypes", () -> scim.getResourceTypes().getTotalResults() >= 2);
    check("ResourceTypes/User", () -> scim.getResourceType("User").getSchema().toString().equals(USER));
    check("Schemas", () -> scim.getSchemas().getTotalResults() >= 3);
    check("Schemas/User", () -> scim.getSchema(USER).getAttributes().stream().anyMatch(a -> a.getName().equals("userName")));
  }

  private static void people(ScimService scim) {
    check("create a user", () -> {
      ada = scim.create("Users", user("ada", "Ada", "Lovelace"));
      return ada.getId() != null && ada.getMeta().getLocation() != null && ada.getMeta().getVersion() != null;
    });
    check("create another with an extension", () -> {
      UserResource one = user("bob", "Bob", "Byron");
      one.setExtension(new EnterpriseUserExtension().setDepartment("Poetry").setEmployeeNumber("7"));
      bob = scim.create("Users", one);
      return bob.getExtension(EnterpriseUserExtension.class).getDepartment().equals("Poetry");
    });
    check("retrieve by id", () -> scim.retrieve("Users", ada.getId(), UserResource.class).getUserName().equals("ada"));
    check("retrieve by location", () -> scim.retrieve(ada.getMeta().getLocation(), UserResource.class).equals(ada));
    check("retrieve only what changed", () -> fails(NotModifiedException.class, () -> scim.retrieveRequest(ada).ifNoneMatch().invoke()));
    check("retrieve some attributes", () -> {
      UserResource some = scim.retrieveRequest("Users", ada.getId()).attributes("userName").invoke(UserResource.class);
      return some.getUserName().equals("ada") && some.getEmails() == null;
    });
    check("retrieve all but some attributes", () ->
        scim.retrieveRequest("Users", ada.getId()).excludedAttributes("emails").invoke(UserResource.class).getEmails() == null);
    check("replace", () -> {
      ada.setDisplayName("Ada L.");
      ada = scim.replace(ada);
      return ada.getDisplayName().equals("Ada L.");
    });
    check("replace, only the version it knows", () -> {
      ada.setTitle("Countess");
      ada = scim.replaceRequest(ada).ifMatch().invoke();
      return ada.getTitle().equals("Countess");
    });
    check("modify: replace a value", () -> {
      ada = scim.modifyRequest(ada).replaceValue("name.givenName", TextNode.valueOf("Augusta")).invoke();
      return ada.getName().getGivenName().equals("Augusta");
    });
    check("modify: add values", () -> {
      ada = scim.modifyRequest(ada).addValues("phoneNumbers", new PhoneNumber().setValue("+44 1").setType("work")).invoke();
      return ada.getPhoneNumbers().size() == 1;
    });
    check("modify: a value path", () -> {
      ada = scim.modifyRequest(ada).replaceValue("phoneNumbers[type eq \"work\"].value", TextNode.valueOf("+44 2")).invoke();
      return ada.getPhoneNumbers().get(0).getValue().equals("+44 2");
    });
    check("modify: remove values", () -> {
      ada = scim.modifyRequest(ada).removeValues("phoneNumbers").invoke();
      return ada.getPhoneNumbers() == null || ada.getPhoneNumbers().isEmpty();
    });
    check("modify: an extension's attribute", () -> {
      String path = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department";
      bob = scim.modifyRequest(bob).replaceValue(path, TextNode.valueOf("Prose")).invoke();
      return bob.getExtension(EnterpriseUserExtension.class).getDepartment().equals("Prose");
    });
  }

  private static void lists(ScimService scim) {
    check("filter: eq", () -> found(scim, Filter.eq("userName", "ADA")) == 1);
    check("filter: and, or, not", () -> {
      Filter either = Filter.or(Filter.eq("userName", "ada"), Filter.sw("userName", "bo"));
      return found(scim, Filter.and(either, Filter.not(Filter.eq("title", "Countess")))) == 1;
    });
    check("filter: a complex value", () ->
        found(scim, Filter.complex("emails", Filter.and(Filter.eq("type", "work"), Filter.co("value", "ada@")))) == 1);
    check("filter: an extension's attribute", () ->
        found(scim, Filter.eq("urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber", "7")) == 1);
    check("pages, sorted", () -> {
      ListResponse<UserResource> page = scim.searchRequest("Users").filter(Filter.pr("title").toString()).page(1, 1)
          .sort("userName", SortOrder.DESCENDING).invoke(UserResource.class);
      return page.getTotalResults() == 1 && page.getItemsPerPage() == 1 && page.getStartIndex() == 1;
    });
    check("search by POST", () -> scim.searchRequest("Users").filter(Filter.eq("userName", "bob").toString())
        .invokePost(UserResource.class).getResources().get(0).getId().equals(bob.getId()));
  }

  private static void groups(ScimService scim) {
    check("create a group", () -> {
      GroupResource group = new GroupResource();
      group.setDisplayName("Team");
      group.setMembers(new Member().setValue(ada.getId()));
      team = scim.create("Groups", group);
      return team.getMembers().size() == 1;
    });
    check("a user shows its groups", () ->
        scim.retrieve("Users", ada.getId(), UserResource.class).getGroups().get(0).getValue().equals(team.getId()));
    check("filter by group", () -> found(scim, Filter.eq("groups.value", team.getId())) == 1);
  }

  private static void refusals(ScimService scim) {
    check("a name twice is a conflict", () ->
        fails(ResourceConflictException.class, () -> scim.create("Users", user("ada", "Other", "Other"))));
    check("a wrong filter is a bad request", () ->
        fails(BadRequestException.class, () -> scim.search("Users", "userName eq", UserResource.class)));
  }

  private static void endings(ScimService scim) {
    check("delete", () -> {
      scim.delete(team);
      scim.delete("Users", bob.getId());
      return fails(ResourceNotFoundException.class, () -> scim.retrieve("Users", bob.getId(), UserResource.class));
    });
    check("delete what is gone", () -> fails(ResourceNotFoundException.class, () -> {
      scim.delete("Users", bob.getId());
      return null;
    }));
  }

  private static UserResource user(String name, String given, String family) {
    UserResource user = new UserResource();
    user.setUserName(name);
    user.setName(new Name().setGivenName(given).setFamilyName(family));
    user.setEmails(new Email().setValue(name + "@example.com").setType("work").setPrimary(true));
    return user;
  }

  private static int found(ScimService scim, Filter filter) throws Exception {
    return scim.search("Users", filter.toString(), UserResource.class).getTotalResults();
  }

  private static boolean fails(Class<? extends Exception> how, Callable<?> step) throws Exception {
    try {
      step.call();
      return false;
    } catch (Exception error) {
      if (how.isInstance(error)) return true;
      throw error;
    }
  }

  private static void check(String name, Callable<Boolean> step) {
    String failure = null;
    try {
      if (!step.call()) failure = "not what was expected";
    } catch (Exception error) {
      failure = error.toString();
    }
    var line = JsonUtils.getJsonNodeFactory().objectNode().put("name", name);
    System.out.println(failure == null ? line : line.put("failure", failure));
  }
}
