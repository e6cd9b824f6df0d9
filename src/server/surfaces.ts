// The list of surfaces a server has. Adding one is one line here.
import type { FastifyInstance } from 'fastify';
import { registerAccount } from '../account/account-surface.ts';
import { registerAssets } from '../appearance/assets.ts';
import { registerHandedOver } from '../console/applications/handed-over-surface.ts';
import { registerConsole } from '../console/console-surface.ts';
import { addAppLinkFiles } from '../device/app-links.ts';
import { registerDevice } from '../device/routes.ts';
import { registerDocs } from '../docs-site/docs-surface.ts';
import { registerHealth } from '../http/operations/health.ts';
import type { Services } from '../http/services.ts';
import { registerClientRegistration } from '../management/registration/registration-surface.ts';
import { registerSsf } from '../management/ssf/ssf-surface.ts';
import { registerManagement, registerSystem } from '../management/surface.ts';
import { registerDiscovery } from '../oidc/discovery/discovery.ts';
import { registerOidc } from '../oidc/routes.ts';
import { registerUserInfo } from '../oidc/userinfo.ts';
import { registerOrganizationSetup } from '../organization-setup/setup-link-surface.ts';
import { registerPhone } from '../phone-page/phone-surface.ts';
import { registerSaml } from '../saml/surface.ts';
import { registerScim } from '../scim/routes.ts';
import { registerAppLinkPages } from '../sign-in/app-link-pages.ts';
import { registerDeviceEntry } from '../sign-in/device-entry.ts';
import { registerExternal } from '../sign-in/external/external-surface.ts';
import { registerLogin } from '../sign-in/login-surface.ts';
import { registerMailedApproval } from '../sign-in/mailed-approval.ts';
import { registerDevMail } from '../welcome/dev-mail.ts';
import { registerHome } from '../welcome/home-page.ts';
import { registerSetup } from '../welcome/setup-surface.ts';
import { registerTester } from '../welcome/tester/tester-surface.ts';
import { registerWelcome } from '../welcome/welcome-surface.ts';

export function registerSurfaces(app: FastifyInstance, services: Services): void {
  registerHealth(app, services);
  registerOidc(app, services);
  registerLogin(app, services);
  registerExternal(app, services);
  registerMailedApproval(app, services);
  registerSetup(app, services);
  registerWelcome(app, services);
  registerAssets(app, services);
  registerConsole(
    app,
    services,
    () => import('../sign-in/external/trial-steps.ts'),
    () => import('../account/organizations/manager-view.ts'),
  );
  registerHandedOver(app, services);
  registerAccount(
    app,
    services,
    () => import('../sign-in/external/link-steps.ts'),
    () => import('../sign-in/external/trial-steps.ts'),
  );
  registerOrganizationSetup(app, services, () => import('../sign-in/external/trial-steps.ts'));
  registerDeviceEntry(app, services);
  registerClientRegistration(app, services);
  registerUserInfo(app, services);
  registerDiscovery(app, services, addAppLinkFiles);
  registerDevice(app, services);
  registerAppLinkPages(app, services);
  registerPhone(app, services);
  registerHome(app, services);
  registerTester(app, services);
  registerDevMail(app, services);
  registerDocs(app, services);
  registerScim(app, services);
  registerManagement(app, services);
  registerSystem(app, services);
  registerSsf(app, services);
  registerSaml(app, services);
}
