// The device plane: every request signed by a phone's key (contract 5, 7.14-7.18). One line per endpoint; which key may
// sign it is part of the line.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { bodyBytesMax } from '../contract/limits.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface } from '../http/surface.ts';
import { rawTargetOf } from '../http/tenant-name.ts';
import { listActivity } from './activity.ts';
import { approve, claim, deny, listApprovals } from './approvals.ts';
import { loadAttestationTrust } from './attestation/attestation-trust.ts';
import { freshChallenge } from './enrollment/challenge.ts';
import { enroll } from './enrollment/enroll.ts';
import { redeemEnrollment } from './enrollment/enrollment-redeem.ts';
import { resendPin, verifyPin } from './enrollment/pin.ts';
import { startRegistration, startSignup } from './enrollment/registration-start.ts';
import { isPlainTarget } from './request-target.ts';
import { rotateConfirm } from './rotation-confirm.ts';
import { rotateAbort, rotateComplete, rotateStart } from './rotation-start.ts';
import { changeSelf, openSignIn, registerPushToken, revokeOther, revokeSelf, showPushToken, showSelf } from './self.ts';
import {
  authenticateDevice,
  authenticateRegistration,
  type DeviceCaller,
  type RegistrationCaller,
  type SignedRequest,
  toSignedRequest,
} from './signed-call.ts';
import { checkSignedHeaders } from './signed-headers.ts';

/** The description of this plane, the one thing here that needs no signature. */
const describedAt = '/openapi.json';

type Sign = (request: FastifyRequest) => SignedRequest;
type Reply = { readonly status: number; readonly body: object };

export function registerDevice(app: FastifyInstance, services: Services): void {
  const trust = loadAttestationTrust(services.config);
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  const sign = (request: FastifyRequest): SignedRequest => toSignedRequest(services, request, () => isClosing);
  const first = (work: (signed: SignedRequest) => Promise<Reply>) => firstCall(sign, work);
  const registering = (work: (signed: SignedRequest, caller: RegistrationCaller) => Promise<Reply>) =>
    first(async (signed) => work(signed, await authenticateRegistration(signed)));
  const enrolled = (work: (signed: SignedRequest, caller: DeviceCaller, id: string) => Promise<object | undefined>) =>
    deviceCall(sign, work);

  const definition = {
    name: 'device',
    envelope: 'management',
    prefix: '/v1/device',
    bodies: { 'application/json': 'raw' },
    bodyBytesMax,
    ofTenant: true,
    beforeRoute: demandPlainTarget,
    beforeBody: async (request: FastifyRequest) => {
      if (request.routeOptions.url?.endsWith(describedAt) !== true) await checkSignedHeaders(services, request);
    },
  } as const;
  registerSurface(app, services, definition, (route) => {
    route(describedAt, {
      GET: async (request, reply) => {
        const { deviceOpenApi } = await import('./protocol/openapi.ts');
        return reply.type('application/json; charset=utf-8').send(deviceOpenApi(request.tenant.baseUrl));
      },
    });
    route('/registration/start', { POST: first(async (signed) => ({ status: 202, body: await startRegistration(signed) })) });
    route('/signup/start', { POST: first(async (signed) => ({ status: 202, body: await startSignup(signed) })) });
    route('/enrollment/redeem', { POST: first(redeemEnrollment) });
    route('/pin/verify', { POST: registering(async (signed, caller) => ({ status: 200, body: await verifyPin(signed, caller) })) });
    route('/pin/resend', { POST: registering(async (signed, caller) => ({ status: 202, body: await resendPin(signed, caller) })) });
    route('/enroll', { POST: registering((signed, caller) => enroll(signed, caller, trust)) });
    route('/attestation/challenge', { POST: first(async (signed) => ({ status: 201, body: await freshChallenge(signed) })) });
    route('/self', { GET: enrolled(showSelf), PATCH: enrolled(changeSelf), DELETE: enrolled(revokeSelf) });
    route('/devices/:id/revoke', { POST: enrolled(revokeOther) });
    route('/push-token', { GET: enrolled(showPushToken), PUT: enrolled(registerPushToken) });
    route('/activity', { GET: enrolled(listActivity) });
    route('/sign-in/open', { POST: enrolled(openSignIn) });
    route('/approvals', { GET: enrolled(listApprovals) });
    route('/approvals/claim', { POST: enrolled(claim) });
    route('/approvals/:id/approve', { POST: enrolled(approve) });
    route('/approvals/:id/deny', { POST: enrolled(deny) });
    route('/keys/rotate/start', { POST: enrolled(rotateStart) });
    route('/keys/rotate/confirm', { POST: enrolled(rotateConfirm) });
    route('/keys/rotate/complete', { POST: enrolled(rotateComplete) });
    route('/keys/rotate/abort', { POST: enrolled(rotateAbort) });
  });
}

function demandPlainTarget(request: FastifyRequest): void {
  if (!isPlainTarget(rawTargetOf(request.raw))) throw reject('management.malformed', 'target_not_plain');
}

function firstCall(sign: Sign, work: (signed: SignedRequest) => Promise<Reply>): Handler {
  return async (request, reply) => {
    const { status, body } = await work(sign(request));
    return answer(reply, status, body);
  };
}

function deviceCall(sign: Sign, work: (signed: SignedRequest, caller: DeviceCaller, id: string) => Promise<object | undefined>): Handler {
  return async (request, reply) => {
    const signed = sign(request);
    const caller = await authenticateDevice(signed);
    const { id = '' } = request.params as { readonly id?: string }; // the one parameter any of these paths has
    const body = await work(signed, caller, id);
    return answer(reply, body === undefined ? 204 : 200, body);
  };
}

function answer(reply: FastifyReply, status: number, body: object | undefined): FastifyReply {
  reply.code(status).header('cache-control', 'no-store');
  return body === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}
