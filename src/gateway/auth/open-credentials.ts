import type { webcrypto } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../store/store.ts';
import { Roles } from '../users/roles.ts';
import { Users } from '../users/users.ts';
import { openApiTokens } from './api-tokens.ts';
import { createAuthenticator } from './create-authenticator.ts';
import { createLoginCodes } from './logins/login-codes.ts';
import { openLoginSessions } from './logins/login-sessions.ts';
import { createHolders } from './logins/standing.ts';

export interface CredentialDeps {
  store: Pick<Store, 'db' | 'commit' | 'machine'>;
  /** Signs login sessions. */
  key: webcrypto.CryptoKey;
  operatorToken: string;
  /** False: every caller is `local`. */
  enabled: boolean;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Opens the users and everything that proves who a caller is. A change of a user reaches all credentials below it. */
export async function openCredentials({ store, key, operatorToken, enabled, clock, ids, log }: CredentialDeps) {
  const roles = await Roles.open({ store, clock, ids });
  const users = await Users.open({ store, roles, clock, ids });
  const tokens = await openApiTokens({ store, users, clock, ids, log });
  const sessions = await openLoginSessions({ store, key, users, clock, ids, lineage: tokens });
  users.onChanged((userId, news) => {
    if (news.rightsChanged) tokens.renewBelow(userId); // first, because logins may be below them
    sessions.renewBelow(userId, news);
  });
  return {
    roles,
    users,
    tokens,
    sessions,
    holders: createHolders({ enabled, lineage: tokens, users, sessions }),
    codes: createLoginCodes({ store, clock, ids, lineage: tokens, users }),
    authenticator: createAuthenticator({ enabled, operatorToken, tokens, sessions }),
  };
}
