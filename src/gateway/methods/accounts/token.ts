import { GatewayError } from '../../../../protocol/errors.ts';
import type { tokenContracts } from '../../../../protocol/methods/accounts/token.ts';
import type { ApiTokens } from '../../auth/api-tokens.ts';
import { minterOf } from '../../auth/lineage.ts';
import type { LoginCodes } from '../../auth/logins/login-codes.ts';
import type { LoginSessions } from '../../auth/logins/login-sessions.ts';
import type { Principal } from '../../auth/principal.ts';
import { requireAuthentication } from '../../auth/require-authentication.ts';
import { isService } from '../../auth/services/service-tokens.ts';
import type { Handlers } from '../../call.ts';

export interface TokenMethodDeps {
  tokens: Pick<ApiTokens, 'create' | 'refresh' | 'list' | 'below' | 'revoke' | 'userOf'>;
  sessions: Pick<LoginSessions, 'revokeBelow'>;
  codes: Pick<LoginCodes, 'revokeBelow'>;
}

export function tokenMethods({ tokens, sessions, codes }: TokenMethodDeps): Handlers<keyof typeof tokenContracts> {
  return {
    'token.create': (asked, call) => {
      const { principal } = call;
      requireAuthentication(principal, 'create tokens');
      const minter = principal && minterOf(principal);
      if (minter === undefined) throw new GatewayError('FORBIDDEN', 'This credential cannot create tokens');
      const also = (id: string) => call.audited({ id, name: asked.name, scope: asked.scope });
      return tokens.create({ ...asked, createdBy: principal?.id ?? '', minter }, also);
    },
    'token.refresh': (_params, { principal, audited }) => {
      if (principal?.source.kind !== 'token' || !isService(principal))
        throw new GatewayError('FORBIDDEN', 'Only a service token can be refreshed');
      const { tokenId } = principal.source;
      return tokens.refresh(tokenId, audited({ id: tokenId }));
    },
    'token.list': (_params, { principal }) => ({ tokens: tokens.list(visibleTo(principal)) }),
    'token.revoke': async ({ tokenId }, call) => {
      const userId = visibleTo(call.principal);
      const isVisible = userId === undefined || tokens.userOf(tokenId) === userId;
      const tokenIds = isVisible ? tokens.below(tokenId) : [];
      if (tokenIds.length === 0) throw new GatewayError('NOT_FOUND', 'Token not found');
      // In one turn of the event loop, so in one transaction: nothing below the token survives it, even if the daemon
      // dies in between.
      await Promise.all([
        tokens.revoke(tokenIds, call.audited()),
        sessions.revokeBelow(tokenIds),
        codes.revokeBelow(tokenIds),
      ]);
      return { revoked: true };
    },
  };
}

/** Users see their own tokens; those who administer users, and the operator, see all (undefined). */
const visibleTo = (principal: Principal | undefined): string | undefined =>
  principal?.permissions.has('admin.users') ? undefined : (principal?.userId ?? '');
