import { ANYONE, type Viewer } from '../sharing/perception.ts';
import { type ApiTokens, TOKEN_PREFIX } from './api-tokens.ts';
import type { Authenticator } from './authenticator.ts';
import { type Bounds, OPERATOR, OPERATOR_BOUNDS, OPERATOR_ID, parentNamed } from './lineage.ts';
import type { LoginSessions } from './logins/login-sessions.ts';
import type { Principal } from './principal.ts';
import { isService } from './services/service-tokens.ts';
import { tokenMatcher } from './token-matcher.ts';

/** Longer tokens are rejected unread; our JWTs have about 350 characters. */
const MAX_TOKEN_LENGTH = 4_096;

interface AuthenticatorDeps {
  enabled: boolean;
  operatorToken: string;
  tokens: Pick<ApiTokens, 'find' | 'endOf' | 'boundsOf'>;
  sessions: Pick<LoginSessions, 'verify'>;
}

/** The principal of every caller when auth is off. */
const LOCAL_ID = 'local';

export function createAuthenticator({ enabled, operatorToken, tokens, sessions }: AuthenticatorDeps): Authenticator {
  const operator = standing(OPERATOR_ID, { kind: 'operator' });
  const local = standing(LOCAL_ID, { kind: 'local' });
  const isOperator = tokenMatcher(operatorToken);
  return {
    enabled,
    authenticate(token, via = 'bearer') {
      if (!enabled) return local;
      if (typeof token !== 'string' || token === '' || token.length > MAX_TOKEN_LENGTH) return undefined;
      if (isOperator(token)) return operator;
      if (!token.startsWith(TOKEN_PREFIX)) return sessions.verify(token, via);
      const principal = tokens.find(token);
      // A service sends headers; in a cookie jar, its token has been put into a browser.
      return via === 'cookie' && principal && isService(principal) ? undefined : principal;
    },
    endOf(principalId) {
      if (principalId === LOCAL_ID) return enabled ? AbortSignal.abort() : undefined;
      return tokens.endOf(principalId);
    },
    viewerOf(principalId) {
      if (principalId === LOCAL_ID) return enabled ? ANYONE : toViewer(OPERATOR_BOUNDS);
      const parent = parentNamed(principalId);
      return toViewer(parent && tokens.boundsOf(parent));
    },
  };
}

const toViewer = (bounds: Bounds | undefined): Viewer => {
  if (bounds === undefined) return ANYONE;
  const { permissions, userId } = bounds;
  return { permissions, ...(userId !== undefined && { userId }) };
};

/** A principal that does not end while the daemon runs. */
const standing = (id: string, source: Principal['source']): Principal => ({
  id,
  scopes: OPERATOR.scopes,
  permissions: OPERATOR_BOUNDS.permissions,
  source,
  ended: new AbortController().signal,
});
