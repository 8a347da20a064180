import { webcrypto } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { machineKeyFiles } from '../../home/machine-key.ts';
import { type Ids, randomIds } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { once } from '../../timing/once.ts';
import { createAuditHeadFile } from '../audit/audit-head.ts';
import { AuditTrail } from '../audit/audit-trail.ts';
import { createCallAudit } from '../audit/call-audit.ts';
import { type AuditMark, SignedEnd } from '../audit/signed-end.ts';
import { createLoginThrottle } from '../auth/logins/login-throttle.ts';
import { createOidcLogin } from '../auth/oidc/oidc-login.ts';
import type { OidcSettings } from '../auth/oidc/oidc-settings.ts';
import { openCredentials } from '../auth/open-credentials.ts';
import { createSetupGate, type SetupMode } from '../auth/setup-gate.ts';
import { Consents } from '../mcp/oauth/consents.ts';
import { Vault } from '../secrets/vault.ts';
import type { Store } from '../store/store.ts';
import { createOrgs } from '../users/orgs.ts';
import type { Passwords } from '../users/passwords.ts';

export const OPERATOR_TOKEN = `svc_${'0f'.repeat(32)}`;
export const BASE_URL = 'http://127.0.0.1:7717';

interface TestAccountOptions {
  store: Store;
  /** The home. */
  dir: string;
  enabled?: boolean;
  setup?: SetupMode;
  isLoopback?: boolean;
  passwords?: Passwords;
  key?: webcrypto.CryptoKey;
  clock: Clock;
  ids?: Ids;
  /** A provider through which people log in. */
  oidc?: OidcSettings;
  log: Log;
}

/** Users and credentials as the daemon opens them, except that passwords are compared as they are. */
export async function testAccounts(options: TestAccountOptions) {
  const { store, dir, enabled = true, setup = 'auto', isLoopback = true, clock, ids = randomIds, log } = options;
  const key = options.key ?? (await testKey());
  const opened = await openCredentials({ store, key, operatorToken: OPERATOR_TOKEN, enabled, clock, ids, log });
  const file = createAuditHeadFile({ path: join(dir, 'audit-head.json'), secret: '5a'.repeat(32) });
  const trail = new AuditTrail({ store, end: new SignedEnd({ file, mark: NO_MARK }), isKeyNew: false, clock, log });
  const throttle = createLoginThrottle({ clock });
  const { users, roles } = opened;
  const oidc = { settings: options.oidc, users, roles, store, key, throttle, fetch, clock, ids, log };
  const openVault = once(() => {
    const keys = machineKeyFiles(dir, {}, ids);
    return Vault.open({ store, keys, storePath: join(dir, 'headgate.db'), clock, log });
  });
  const vault: Pick<Vault, 'status' | 'rotate' | 'group' | 'change'> = {
    status: async () => (await openVault()).status(),
    rotate: async (...change) => (await openVault()).rotate(...change),
    // Most tests have no secrets, and need no keys then.
    group: async (group) => {
      const row = await store.db.selectFrom('secrets').select('name').executeTakeFirst();
      return row === undefined ? [] : (await openVault()).group(group);
    },
    change: async (change) => (await openVault()).change(change),
  };
  return {
    ...opened,
    vault,
    consents: new Consents({
      store,
      // Without tool servers, there is nothing to encrypt.
      vault: { commitSealed: async (...change) => (await openVault()).commitSealed(...change), open: () => undefined },
      users,
      live: { mcp: { servers: {} }, privateHosts: [] },
      environment: {},
      fetch,
      baseUrl: () => BASE_URL,
      hide: () => undefined,
      clock,
      ids,
      log,
    }),
    isLoginSecretChosen: false,
    oidc: createOidcLogin(oidc),
    passwords: options.passwords ?? PLAIN,
    setup: createSetupGate({ mode: setup, isLoopback, isShared: false, clock, ids }),
    orgs: createOrgs({ store, clock }),
    throttle,
    clock,
    trail,
    audit: createCallAudit({ trail, users: opened.users, clock, ids, log }),
    baseUrl: () => BASE_URL,
  };
}

/** The end remembers by itself what was signed, until it is gone. */
const NO_MARK: AuditMark = { read: async () => undefined, write: async () => undefined };

/** A key to sign logins with. */
export const testKey = () => webcrypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

/** Without the cost of Argon2id. */
const PLAIN: Passwords = {
  hash: async (password) => `plain:${password}`,
  waiting: () => 0,
  matches: async (password, stored) => stored === `plain:${password}`,
};
