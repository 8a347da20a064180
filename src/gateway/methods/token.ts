import { GatewayError } from '../../../protocol/errors.ts';
import type { tokenContracts } from '../../../protocol/methods/token.ts';
import { type ApiTokens, principalIdOf } from '../auth/api-tokens.ts';
import type { LoginSessions } from '../auth/login-sessions.ts';
import type { Handlers } from '../call.ts';

export interface TokenMethodDeps {
  tokens: Pick<ApiTokens, 'create' | 'list' | 'revoke'>;
  sessions: Pick<LoginSessions, 'revokeOf'>;
}

export function tokenMethods({ tokens, sessions }: TokenMethodDeps): Handlers<keyof typeof tokenContracts> {
  return {
    'token.create': (asked, { principal }) => tokens.create({ ...asked, createdBy: principal?.id ?? '' }),
    'token.list': () => ({ tokens: tokens.list() }),
    'token.revoke': async ({ tokenId }) => {
      // Together, in one transaction: a login by the token does not outlive it, whatever dies in between.
      const [revoked] = await Promise.all([tokens.revoke(tokenId), sessions.revokeOf(principalIdOf(tokenId))]);
      if (!revoked) throw new GatewayError('NOT_FOUND', `Unknown token: ${tokenId}`);
      return { revoked };
    },
  };
}
