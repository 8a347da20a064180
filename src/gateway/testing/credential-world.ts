import { webcrypto } from 'node:crypto';
import type { TokenScope } from '../../../protocol/methods/token.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { type ApiTokens, openApiTokens } from '../auth/api-tokens.ts';
import { createAuthenticator } from '../auth/create-authenticator.ts';
import { createLoginCodes, type LoginCodes } from '../auth/login-codes.ts';
import { type LoginSessions, openLoginSessions } from '../auth/login-sessions.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import type { Principal } from '../auth/principal.ts';
import type { Call } from '../call.ts';
import { authMethods } from '../methods/auth.ts';
import { tokenMethods } from '../methods/token.ts';

export const OPERATOR_TOKEN = `svc_${'0f'.repeat(32)}`;

/** Tokens, links and logins with a real store and a clock that tests advance; `restart` opens them again. */
export async function openCredentialWorld() {
  const clock = fakeClock(Date.UTC(2030, 0, 1));
  const store = await tempStore({ clock });
  const key = await webcrypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  const log = recordingLog();

  async function open() {
    const tokens = await openApiTokens({ store, clock, ids: randomIds, log });
    const sessions = await openLoginSessions({ store, key, clock, ids: randomIds, lineage: tokens });
    const codes = createLoginCodes({ store, clock, ids: randomIds, lineage: tokens });
    return join({ tokens, sessions, codes });
  }
  let parts = await open();

  return {
    clock,
    store,
    create: (by: Principal, asked: { name: string; scope: TokenScope; expiresInMs?: number }) =>
      parts.programs['token.create'](asked, callBy(by)),
    revoke: (tokenId: string) => parts.programs['token.revoke']({ tokenId }, callBy(undefined)),
    async link(by: Principal): Promise<string> {
      const { url } = await parts.people['auth.link']({}, callBy(by));
      return url.split('#login=')[1] ?? '';
    },
    login: async (given: { code: string } | { token: string }) => parts.people['auth.login'](given, callBy(undefined)),
    logout: async (by: Principal) => parts.people['auth.logout']({}, callBy(by)),
    authenticate: async (secret: string) => parts.authenticator.authenticate(secret),
    listed: () => parts.tokens.list().length,
    async restart() {
      await parts.stop();
      parts = await open();
    },
    async [Symbol.asyncDispose]() {
      await parts.stop();
      await store.close();
    },
  };
}

interface Parts {
  tokens: ApiTokens;
  sessions: LoginSessions;
  codes: LoginCodes;
}

function join({ tokens, sessions, codes }: Parts) {
  const authenticator = createAuthenticator({ enabled: true, operatorToken: OPERATOR_TOKEN, tokens, sessions });
  const stopping = new AbortController();
  const running = [tokens.run(stopping.signal), sessions.run(stopping.signal)];
  return {
    tokens,
    authenticator,
    programs: tokenMethods({ tokens, sessions, codes }),
    people: authMethods({ authenticator, sessions, codes, throttle: NO_THROTTLE, baseUrl: () => 'http://127.0.0.1' }),
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

const NO_THROTTLE: LoginThrottle = { begin: () => ({ kind: 'counted', succeeded: () => undefined }) };

const callBy = (principal: Principal | undefined): Call => ({
  ...{ principal, address: '127.0.0.1', signal: new AbortController().signal, interim: () => undefined },
  ...{ kept: undefined, keep: () => [], momentary: () => undefined, subscriptions: undefined },
});
