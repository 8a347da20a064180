import { GatewayError } from '../../../../protocol/errors.ts';
import type { tokenContracts } from '../../../../protocol/methods/accounts/token.ts';
import type { ApiTokens } from '../../auth/api-tokens.ts';
import { minterOf } from '../../auth/lineage.ts';
import type { LoginCodes } from '../../auth/logins/login-codes.ts';
import type { LoginSessions } from '../../auth/logins/login-sessions.ts';
import type { Principal } from '../../auth/principal.ts';
import { requireAuthentication } from '../../auth/require-authentication.ts';
import { isService } from '../../auth/services/service-tokens.ts';
import type { Call, Handlers } from '../../call.ts';
import { ALL_PERMISSIONS } from '../../users/grant.ts';
import type { Roles } from '../../users/roles.ts';
import type { Users } from '../../users/users.ts';
import { requireHeld } from './role.ts';
import { requireOver } from './user.ts';

export interface TokenMethodDeps {
  users: Users;
  roles: Roles;
  tokens: Pick<ApiTokens, 'create' | 'refresh' | 'list' | 'below' | 'revoke' | 'userOf'>;
  sessions: Pick<LoginSessions, 'revokeBelow'>;
  codes: Pick<LoginCodes, 'revokeBelow'>;
}

export function tokenMethods(deps: TokenMethodDeps): Handlers<keyof typeof tokenContracts> {
  const { tokens, sessions, codes } = deps;
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
      requireOverToken(call, tokenId, deps);
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

/** As for users: nobody acts on the tokens of those who may do more. Those below the operator may do everything. */
function requireOverToken(call: Pick<Call, 'principal'>, tokenId: string, { tokens, users, roles }: TokenMethodDeps) {
  const userId = tokens.userOf(tokenId);
  if (userId === undefined) requireHeld(call, ALL_PERMISSIONS);
  else if (userId !== call.principal?.userId) requireOver(call, userId, { users, roles });
}

/** Users see their own tokens; those who administer users, and the operator, see all (undefined). */
const visibleTo = (principal: Principal | undefined): string | undefined =>
  principal?.permissions.has('admin.users') ? undefined : (principal?.userId ?? '');
