import { GatewayError } from '../../../protocol/errors.ts';
import type { tokenContracts } from '../../../protocol/methods/token.ts';
import type { ApiTokens } from '../auth/api-tokens.ts';
import { minterOf } from '../auth/lineage.ts';
import type { LoginCodes } from '../auth/login-codes.ts';
import type { LoginSessions } from '../auth/login-sessions.ts';
import type { Handlers } from '../call.ts';

export interface TokenMethodDeps {
  tokens: Pick<ApiTokens, 'create' | 'list' | 'below' | 'revoke'>;
  sessions: Pick<LoginSessions, 'revokeBelow'>;
  codes: Pick<LoginCodes, 'revokeBelow'>;
}

export function tokenMethods({ tokens, sessions, codes }: TokenMethodDeps): Handlers<keyof typeof tokenContracts> {
  return {
    'token.create': (asked, { principal }) => {
      if (principal?.source.kind === 'local') throw authIsOff();
      const minter = principal && minterOf(principal);
      if (minter === undefined) throw new GatewayError('FORBIDDEN', 'This credential cannot create tokens');
      return tokens.create({ ...asked, createdBy: principal?.id ?? '', minter });
    },
    'token.list': () => ({ tokens: tokens.list() }),
    'token.revoke': async ({ tokenId }) => {
      const tokenIds = tokens.below(tokenId);
      if (tokenIds.length === 0) throw new GatewayError('NOT_FOUND', `Unknown token: ${tokenId}`);
      // In one turn of the event loop, so in one transaction: nothing below the token survives it, even if the daemon
      // dies in between.
      await Promise.all([tokens.revoke(tokenIds), sessions.revokeBelow(tokenIds), codes.revokeBelow(tokenIds)]);
      return { revoked: true };
    },
  };
}

/** Refuses: the token would be valid once authentication is on again, although nobody knows who requested it. */
const authIsOff = () =>
  new GatewayError('FORBIDDEN', 'Authentication is off. To create tokens, start the daemon without --no-auth');
