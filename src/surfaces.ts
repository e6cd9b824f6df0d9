// The list of surfaces a server has. Adding one is one line here.
import type { FastifyInstance } from 'fastify';
import { registerDevice } from './device/routes.ts';
import { registerHealth } from './http/health.ts';
import type { Services } from './http/services.ts';
import { registerManagement, registerSystem } from './management/surface.ts';
import { registerDiscovery } from './oidc/discovery.ts';
import { registerOidc } from './oidc/routes.ts';
import { registerUserInfo } from './oidc/userinfo.ts';
import { registerSaml } from './saml/surface.ts';
import { registerScim } from './scim/routes.ts';
import { registerAccount } from './web/account/account-surface.ts';
import { registerAppLinkPages } from './web/app-link-pages.ts';
import { registerConsole } from './web/console/console-surface.ts';
import { registerDocs } from './web/docs/docs-surface.ts';
import { registerLogin } from './web/login-surface.ts';
import { registerMailedApproval } from './web/mailed-approval.ts';
import { registerSetup } from './web/setup-surface.ts';

export function registerSurfaces(app: FastifyInstance, services: Services): void {
  registerHealth(app, services);
  registerOidc(app, services);
  registerLogin(app, services);
  registerMailedApproval(app, services);
  registerSetup(app, services);
  registerConsole(app, services);
  registerAccount(app, services);
  registerUserInfo(app, services);
  registerDiscovery(app, services);
  registerDevice(app, services);
  registerAppLinkPages(app, services);
  registerDocs(app, services);
  registerScim(app, services);
  registerManagement(app, services);
  registerSystem(app, services);
  registerSaml(app, services);
}
