// The sign-in as a draft would show it: real pages of a sign-in nobody makes, in one theme, which do nothing.
import { type LoginStep, loginSteps } from '../domain/appearance/login-texts.ts';
import type { Language } from '../domain/language.ts';
import { loginMethodNames } from '../domain/sign-in/login-methods.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Page, Theme } from '../pages/page.ts';
import { renderLogin } from '../sign-in/login-page.ts';
import type { LoginNow, LoginState } from '../sign-in/login-view.ts';

const ada = { displayName: 'Ada Lovelace', email: 'ada@example.com' };
const shownMs = Date.UTC(2026, 0, 1, 9, 30);

/** The page of a step. `tenant` has the draft in the place of what is published. */
export function previewPage(tenant: Tenant, step: LoginStep, language: Language, theme: Theme): Page {
  const state = step === 'consent' ? 'approved' : step;
  return renderLogin(sampleLogin(tenant, step), { state, language, preview: theme });
}

export const stepOf = (text: string | null): LoginStep => loginSteps.find((step) => step === text) ?? 'identify';

function sampleLogin(tenant: Tenant, step: LoginStep): LoginNow {
  const row: Partial<LoginNow['row']> = {
    id: 'preview' as LoginNow['row']['id'], // of no sign-in: its forms are never sent
    kind: 'oidc',
    identifier: step === 'identify' ? null : ada.email,
    login_hint: null,
    step: step === 'passkey' ? 'passkey' : 'identify',
    approval_number: '42',
    approval_claimed_by: null,
    approval_claimed_as: null,
    initiated_ip: '203.0.113.7',
    created_at: shownMs,
  };
  return {
    tenant,
    row: row as LoginNow['row'], // the members that bodies read
    state: (step === 'consent' ? 'approved' : step) as LoginState, // steps are states, but for those a state is shown as
    clientName: 'Example',
    logoUri: undefined,
    methods: loginMethodNames,
    decision: undefined,
    accounts: step === 'account' ? [sampleAccount] : [],
    organizations: [],
    organization: undefined,
    answering: undefined,
    strength: { kind: 'oidc', acr_values: null },
    providers: [],
    ownProviders: [],
    consent: step === 'consent' ? ['openid', 'profile', 'email'] : undefined,
  };
}

const sampleAccount = { id: 'preview', ...ada } as LoginNow['accounts'][number]; // the members that bodies read
