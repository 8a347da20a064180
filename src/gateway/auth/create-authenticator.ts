import type { Principal } from '../call.ts';
import { type ApiTokens, TOKEN_PREFIX } from './api-tokens.ts';
import type { Authenticator } from './authenticator.ts';
import type { LoginSessions } from './login-sessions.ts';
import { tokenMatcher } from './operator-token.ts';
import { expandScopes } from './scopes.ts';

/** Longer ones are not looked at: a JWT of ours has about 350 characters. */
const MAX_TOKEN_LENGTH = 4_096;

interface AuthenticatorDeps {
  enabled: boolean;
  operatorToken: string;
  tokens: Pick<ApiTokens, 'find'>;
  sessions: Pick<LoginSessions, 'verify'>;
}

/** Who holds this machine's operator token. Logins through a link act for them. */
export const OPERATOR_ID = 'operator';

export function createAuthenticator({ enabled, operatorToken, tokens, sessions }: AuthenticatorDeps): Authenticator {
  const operator = standing(OPERATOR_ID, { kind: 'operator' });
  const local = standing('local', { kind: 'local' });
  const isOperator = tokenMatcher(operatorToken);
  return {
    enabled,
    async authenticate(token) {
      if (!enabled) return local;
      if (typeof token !== 'string' || token === '' || token.length > MAX_TOKEN_LENGTH) return undefined;
      if (isOperator(token)) return operator;
      return token.startsWith(TOKEN_PREFIX) ? tokens.find(token) : sessions.verify(token);
    },
  };
}

/** A principal that nothing revokes while the daemon runs. */
const standing = (id: string, source: Principal['source']): Principal => ({
  id,
  scopes: expandScopes(['approve']),
  source,
  revoked: new AbortController().signal,
});
