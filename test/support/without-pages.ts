import type { FastifyReply, FastifyRequest } from 'fastify';
import { keptWords } from '#access/consents/record/consent-words.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { Form } from '#platform/http/forms/form.js';
import type { OpenContext } from '#platform/http/page-routes/open-pages.js';
import { AuthorizationController } from '#entrypoints/oauth/authorization/authorization.controller.js';
import { newUlid } from '#platform/secrets/ids.js';
import { SignInController } from '#entrypoints/sign-in/sign-in.controller.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { PortalAccessService } from '#entrypoints/webhook-portal/access/portal-access.service.js';
import type { BrowserSession } from './browser-session.js';
import type { TestInstance } from './test-service.js';

// What a form of a page leads to, without the page, its form and HTTP: for tests of something else, which do it again and again.

export type WithApp = Pick<TestInstance, 'app'>;

const formOf = (fields: Record<string, string>): Form => Form.parse(new URLSearchParams(fields).toString());

/** A request of this browser for a handler, and an answer that keeps its cookies. */
export function exchangeOf({ cookies }: BrowserSession, url: string) {
  const request = {
    url,
    id: newUlid(),
    ip: '127.0.0.1',
    // As the tests send them.
    headers: { 'user-agent': 'node', 'accept-language': '*' },
    cookies: Object.fromEntries(cookies),
  };
  const reply = {
    location: '',
    header: () => reply,
    redirect: (location: string) => void (reply.location = location),
    setCookie: (name: string, value: string) => void cookies.set(name, value),
    clearCookie: (name: string) => void cookies.delete(name),
  };
  return {
    request: request as unknown as FastifyRequest,
    reply: reply as unknown as FastifyReply & { location: string },
  };
}

/** Logs in as the form of the login page does; a second factor that is then asked for is not given. */
export async function signIn(
  { app }: WithApp,
  browser: BrowserSession,
  email: string,
  password: string,
): Promise<void> {
  const { request, reply } = exchangeOf(browser, '/login');
  // As the page leaves the browser: the pages that follow share the secret of its form.
  app.get(CsrfService).tokenFor(request, reply, 'login');
  const context = { form: formOf({ email, password }) } as OpenContext;
  const answer = await app.get(SignInController).signIn(context, request, reply);
  if (!('goTo' in answer)) throw new Error(`not signed in: ${email}`);
}

/** Agrees to an authorization request as the form of the consent page does; returns where the browser is sent. */
export async function authorize(
  { app }: WithApp,
  browser: BrowserSession,
  parameters: Record<string, string> | URLSearchParams,
): Promise<URL> {
  const { request, reply } = exchangeOf(browser, '/o/authorize/');
  const user = await app.get(SessionsService).current(request);
  if (!user) throw new Error('nobody is signed in');
  const source = new URLSearchParams(parameters).toString();
  const binding = `consent ${user.id} ${user.sessionDigest.toString('base64url')} ${source}`;
  const csrf_token = app.get(CsrfService).tokenFor(request, reply, binding);
  const controller = app.get(AuthorizationController);
  const checked = await controller['checks'].check(Form.parse(source));
  if (checked.outcome !== 'request') throw new Error(`no request: ${source}`);
  const consent = await controller['consents'].findLive(checked.request.client.id, user.id);
  const shown = keptWords(await controller['wordsFor'](checked.request, user, consent, request));
  const words = shown.digest.toString('hex');
  const form = formOf({ request: source, decision: 'authorize', csrf_token, words });
  await controller.decide(form, request, reply);
  return new URL(reply.location);
}

/** Opens the portal of the client with a one-time link, as the button of its page does. */
export async function redeemPortalLink(
  { app }: WithApp,
  browser: BrowserSession,
  { id, type }: { id: string; type: string },
): Promise<void> {
  const access = app.get(PortalAccessService);
  const client = { id, type, webhooksEnabled: true, hasOperatorScope: false };
  const link = new URL(await access.createLink({ client } as Principal)).pathname;
  const { request, reply } = exchangeOf(browser, link);
  app.get(CsrfService).tokenFor(request, reply, link);
  const actor = { type: 'client', id: null, address: request.ip, requestId: request.id } as const;
  if (!(await access.redeem(link.split('/').at(-1)!, request, reply, actor)))
    throw new Error(`not in the portal: ${id}`);
}

/** Opens the portal of the client as the button of the page that members choose it on does. */
export async function openMembersPortal(
  { app }: WithApp,
  browser: BrowserSession,
  clientId: string,
): Promise<void> {
  const { request, reply } = exchangeOf(browser, `/portal/sign-in/${clientId}`);
  const user = await app.get(SessionsService).current(request);
  if (!user) throw new Error('nobody is signed in');
  const actor = { type: 'user', id: user.id, address: request.ip, requestId: request.id } as const;
  const access = app.get(PortalAccessService);
  if (!(await access.openForMember(user, clientId, request, reply, actor)))
    throw new Error(`not in the portal: ${clientId}`);
}
