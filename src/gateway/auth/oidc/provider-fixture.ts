import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { systemClock } from '../../../clock.ts';
import type { OidcSettings } from './oidc-settings.ts';

const ISSUER = 'https://sso.example.com';

export const SETTINGS: OidcSettings = {
  ...{ issuer: ISSUER, clientId: 'headgate', clientSecret: 'hush', scopes: ['openid'], providerName: 'Lab' },
  ...{ roleClaim: undefined, roleMap: new Map(), defaultRole: 'builtin-viewer', createUsers: true },
  passwordEnabled: true,
  base: () => 'http://127.0.0.1:7717',
};

const keys = await generateKeyPair('ES256', { extractable: true });
const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', use: 'sig' };

/**
 * A provider for unit tests, in place of `fetch`. `claims` are those of the next ID token; `answers` replace the answer at
 * a path; `requests` are those that arrived.
 */
export function fakeProvider() {
  const state = {
    claims: {} as Record<string, unknown>,
    metadata: {} as Record<string, unknown>,
    answers: new Map<string, (signal: AbortSignal | null | undefined) => Response | Promise<Response>>(),
    requests: [] as { path: string; authorization: string | null; body: URLSearchParams }[],
  };

  async function token(): Promise<Response> {
    const nowSecs = Math.floor(systemClock.now() / 1_000);
    const usual = { iss: ISSUER, aud: 'headgate', sub: 's1', iat: nowSecs, exp: nowSecs + 300 };
    const id_token = await new SignJWT({ ...usual, ...state.claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .sign(keys.privateKey);
    return Response.json({ id_token, access_token: 'a', token_type: 'bearer' });
  }

  const USUAL: Record<string, () => Response | Promise<Response>> = {
    '/.well-known/openid-configuration': () =>
      Response.json({
        ...{ issuer: ISSUER, authorization_endpoint: `${ISSUER}/auth`, token_endpoint: `${ISSUER}/token` },
        ...{ jwks_uri: `${ISSUER}/keys`, id_token_signing_alg_values_supported: ['ES256'] },
        ...state.metadata,
      }),
    '/token': token,
    '/keys': () => Response.json({ keys: [jwk] }),
  };

  return Object.assign(state, {
    fetch: (async (input, init) => {
      const { pathname } = new URL(String(input));
      const authorization = new Headers(init?.headers).get('authorization');
      state.requests.push({ path: pathname, authorization, body: new URLSearchParams(String(init?.body ?? '')) });
      const answer = state.answers.get(pathname) ?? USUAL[pathname];
      return answer === undefined ? new Response('', { status: 404 }) : answer(init?.signal);
    }) satisfies typeof fetch,
  });
}
