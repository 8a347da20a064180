import { GatewayError } from '../../../../protocol/errors.ts';
import type { oidcContracts } from '../../../../protocol/methods/accounts/oidc.ts';
import type { Authenticator } from '../../auth/authenticator.ts';
import { minterOfUser } from '../../auth/logins/identify.ts';
import type { LoginSessions } from '../../auth/logins/login-sessions.ts';
import { type OidcLogin, oidcRefused } from '../../auth/oidc/oidc-login.ts';
import { requireAuthentication } from '../../auth/require-authentication.ts';
import type { Handlers } from '../../call.ts';
import { tookEffect, UnitRefused } from '../../store/store.ts';
import type { Roles } from '../../users/roles.ts';
import type { Users } from '../../users/users.ts';
import { browserSessionOf, requireEnabled, toLogin } from './auth.ts';
import { requireOver } from './user.ts';

export interface OidcMethodDeps {
  authenticator: Authenticator;
  sessions: Pick<LoginSessions, 'start'>;
  users: Users;
  roles: Roles;
  oidc: OidcLogin;
}

export const oidcMethods = (deps: OidcMethodDeps): Handlers<keyof typeof oidcContracts> => ({
  ...loginMethods(deps),
  ...identityMethods(deps),
});

function loginMethods({ authenticator, sessions, users, oidc }: OidcMethodDeps) {
  return {
    'oidc.authorize': async ({ fresh = false }, call) => {
      requireEnabled(authenticator);
      // Otherwise whoever comes first at the provider would be the first user.
      if (oidc.settings !== undefined && users.count === 0)
        throw new GatewayError('FORBIDDEN', 'Create the first user before logging in through a provider');
      const asked = { isFresh: fresh, follows: browserSessionOf(call)?.jti };
      const { url, sealed, expiresAtMs } = await oidc.begin(asked, call.address);
      return { url, pending: sealed, expiresAtMs };
    },
    'oidc.callback': async ({ pending = '', state, code, iss, error }, { address, audited }) => {
      requireEnabled(authenticator);
      const named = Object.entries({ state, code, iss, error });
      const parameters = new Map(
        named.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
      );
      const finished = await oidc.finish({ sealed: pending, state, parameters }, address);
      const { userId, version, issuer, subject, authenticatedMs, isNew, given, taken } = finished;
      const follows = finished.follows === undefined ? undefined : { jti: finished.follows };
      const also = [
        ...audited({ id: userId, issuer, subject, created: isNew, rolesGiven: given, rolesTaken: taken }),
        users.noteLogin(userId),
        oidc.identities.use(issuer, subject),
      ];
      try {
        return toLogin(await sessions.start(minterOfUser(userId, version), { authenticatedMs, follows, also }), users);
      } catch (failure) {
        // The user was disabled or deleted, or the person removed, while the provider answered.
        const isGone = failure instanceof UnitRefused || failure instanceof GatewayError;
        throw isGone ? oidcRefused('no_account', failure) : failure;
      }
    },
  } satisfies Partial<Handlers>;
}

function identityMethods({ users, roles, oidc: { settings, identities } }: OidcMethodDeps) {
  return {
    'oidc.identity.list': async ({ userId }) => ({ identities: await identities.list(users.get(userId).userId) }),
    'oidc.identity.add': async ({ userId, issuer = settings?.issuer, subject }, call) => {
      requireAuthentication(call.principal, 'change users');
      users.get(userId);
      requireOver(call, userId, { users, roles });
      if (issuer === undefined)
        throw new GatewayError('INVALID_REQUEST', 'issuer: required, because no provider is configured');
      const identity = { issuer, subject, userId };
      try {
        await identities.add(identity, call.audited({ issuer, subject }));
      } catch (error) {
        if (!(error instanceof UnitRefused)) throw error;
        if (error.why === 'rows') throw new GatewayError('NOT_FOUND', 'User not found', { cause: error });
        throw new GatewayError('CONFLICT', 'This person is a user already', { cause: error });
      }
      const added = (await identities.list(userId)).find((each) => each.issuer === issuer && each.subject === subject);
      if (added === undefined) throw new GatewayError('NOT_FOUND', 'Identity not found'); // removed meanwhile
      return added;
    },
    'oidc.identity.remove': async ({ issuer, subject }, call) => {
      const userId = await identities.findUser(issuer, subject);
      if (userId === undefined) throw new GatewayError('NOT_FOUND', 'Identity not found');
      requireOver(call, userId, { users, roles });
      const also = [identities.removal({ issuer, subject }), ...call.audited({ id: userId, issuer, subject })];
      if (!(await tookEffect(users.logOut(userId, also)))) throw new GatewayError('NOT_FOUND', 'Identity not found');
      return { status: 'ok' };
    },
  } satisfies Partial<Handlers>;
}
