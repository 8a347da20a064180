import type { ParamsInput, Result } from '../../../protocol/index.ts';
import type { ProviderUnderTest } from './provider.ts';
import { WebVisitor } from './web-visitor.ts';

/** A login with this provider, as config.json has it. */
export const oidcConfig = ({ issuer }: Pick<ProviderUnderTest, 'issuer'>, settings: object = {}) => ({
  oidc: {
    issuer,
    ...{ clientId: CLIENT.id, clientSecret: CLIENT.secret, providerName: 'the Lab' },
    ...{ scopes: ['profile', 'email', 'groups'] },
    ...settings,
  },
  // Each visitor has its own address, so that the limits of one do not concern the others.
  ratelimit: { trustedProxies: ['127.0.0.1'] },
});

/** The same in the environment. */
export const oidcEnvironment = ({ issuer }: Pick<ProviderUnderTest, 'issuer'>) => ({
  SERVICE_OIDC_ISSUER: issuer,
  SERVICE_OIDC_CLIENT_ID: CLIENT.id,
  SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
});

/** The client that the daemon is for the provider. */
export const CLIENT = { id: 'headgate', secret: 'a secret of the client that nobody else knows' };

interface Logged {
  /** The part of the page's address after the `?`. */
  end: string;
  /** The session, if there is one. */
  jwt: string | undefined;
}

/** Logs a visitor in through the provider, under the name if the provider asks for one. */
export async function logInAs(name: string, daemon: { url: string }, visitor = new WebVisitor()): Promise<Logged> {
  const callback = await toCallback(name, daemon, visitor);
  return finish(callback, daemon, visitor);
}

/** The address to which the provider sends the visitor back. */
export const toCallback = (name: string, daemon: { url: string }, visitor: WebVisitor): Promise<string> =>
  passProvider(`${daemon.url}/v1/api/auth/oidc/authorize`, { name, back: daemon.url, visitor });

interface Passing {
  name: string;
  /** Where the provider sends the visitor back. */
  back: string;
  visitor: WebVisitor;
}

async function passProvider(start: string, { name, back, visitor }: Passing): Promise<string> {
  const isBack = (url: string) => url.startsWith(back) && url !== start;
  const at = await visitor.follow(start, (url) => isBack(url) || url.includes('/interaction/'));
  if (isBack(at)) return at;
  const body = new URLSearchParams({ prompt: 'login', login: name, password: 'any' });
  return visitor.follow(at, isBack, { method: 'POST', body });
}

/** What a client brings back that began a login over the WebSocket. */
export async function answerOf({ url, pending }: Result<'oidc.authorize'>): Promise<ParamsInput<'oidc.callback'>> {
  const back = new URL(url).searchParams.get('redirect_uri') ?? '';
  const callback = await passProvider(url, { name: 'wanda', back, visitor: new WebVisitor() });
  const { state = '', code, iss } = Object.fromEntries(new URL(callback).searchParams);
  return { pending, state, code, iss };
}

/** Opens the callback, and reads where it leads. */
export async function finish(callback: string, daemon: { url: string }, visitor: WebVisitor): Promise<Logged> {
  const response = await visitor.get(callback);
  const location = response.headers.get('location') ?? `status ${response.status}: ${await response.text()}`;
  return { end: location.replace('/?', ''), jwt: visitor.cookie(daemon.url, 'service_auth') };
}
