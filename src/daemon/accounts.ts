import { availableParallelism } from 'node:os';
import path from 'node:path';
import { type Notice, warn } from '../../protocol/notice.ts';
import { AUDIT_HEAD_FILE, createAuditHeadFile } from '../gateway/audit/audit-head.ts';
import { AuditTrail } from '../gateway/audit/audit-trail.ts';
import { createCallAudit } from '../gateway/audit/call-audit.ts';
import { type AuditMark, SignedEnd } from '../gateway/audit/signed-end.ts';
import { endFormerOperator } from '../gateway/auth/former-operator.ts';
import { OPERATOR } from '../gateway/auth/lineage.ts';
import { createLoginThrottle } from '../gateway/auth/logins/login-throttle.ts';
import { createOidcLogin } from '../gateway/auth/oidc/oidc-login.ts';
import { openCredentials } from '../gateway/auth/open-credentials.ts';
import { isLoopbackHost } from '../gateway/auth/origin-policy.ts';
import { chosenSecret, openSecrets } from '../gateway/auth/secrets.ts';
import { createSetupGate } from '../gateway/auth/setup-gate.ts';
import type { ConsentDeps } from '../gateway/mcp/oauth/consent-deps.ts';
import { Consents } from '../gateway/mcp/oauth/consents.ts';
import { loginLink } from '../gateway/methods/accounts/auth.ts';
import { Vault } from '../gateway/secrets/vault.ts';
import type { DaemonStore } from '../gateway/store/daemon-store.ts';
import { createOrgs } from '../gateway/users/orgs.ts';
import { createPasswordThreads } from '../gateway/users/password-threads.ts';
import { createPasswords, type Passwords } from '../gateway/users/passwords.ts';
import { type FollowedCredentials, followCredentials } from '../gateway/workers/followed-credentials.ts';
import { machineKeyFiles, readMachineKeys, toKeyText } from '../home/machine-key.ts';
import { openOperatorToken } from '../home/operator-token.ts';
import { asStartError } from './as-start-error.ts';
import type { GuardedSecrets } from './config/guarded-secrets.ts';
import type { LiveConfig } from './config/live-config.ts';
import { resolveOidc } from './config/oidc-config.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { sharedText } from './life/shared-text.ts';
import { openStoredServers } from './tools/stored-servers.ts';

interface AccountDeps {
  store: DaemonStore;
  /** Known once the daemon listens. */
  baseUrl(): string;
  /** Hashes passwords. */
  passwords: Passwords;
  onNotice(notice: Notice): void;
  live: Pick<LiveConfig, 'mcp' | 'privateHosts'>;
  secrets: Pick<GuardedSecrets, 'learn' | 'replacePassing'>;
  /** For requests to the provider. */
  fetch: typeof fetch;
}

type AccountOptions = Pick<
  DaemonOptions,
  'home' | 'host' | 'authEnabled' | 'newSecrets' | 'config' | 'environment' | 'ids' | 'clock' | 'log'
>;

/** Opens the users, everything that proves who a caller is, and the record of what they do. */
export async function openAccounts(
  options: AccountOptions,
  { store, baseUrl, passwords, onNotice, live, secrets: guarded, fetch }: AccountDeps,
) {
  const { home, host, authEnabled, config, environment, ids, clock, log } = options;
  const isLoopback = isLoopbackHost(host.includes(':') ? `[${host}]` : host);
  const { publicUrl } = config.server;
  const provider = resolveOidc(config.oidc, { environment, publicUrl, isLoopback, baseUrl });
  const vault = await asStartError(() => openVault(options, { store, onNotice }));
  const secrets = await asStartError(() => openSecrets({ home, environment, ids, clock, log, vault, onNotice }));
  const { signingKey, loginSecret, auditSecret, isAuditSecretNew, auditMark } = secrets;
  const operatorToken = await asStartError(() => openOperatorToken(home, ids));
  const isWorker = store.machine !== null;
  const notice = isWorker ? undefined : await endFormerOperator({ store, operatorToken, clock });
  if (notice !== undefined) onNotice(warn('operator_token_changed', notice));
  const credentials = { store, key: signingKey, operatorToken, enabled: authEnabled, clock, ids, log };
  const opened = await openCredentials(credentials);
  const { roles, users, tokens, sessions, holders, codes } = opened;
  const { authenticator, reload }: FollowedCredentials = isWorker ? followCredentials(opened, credentials) : opened;
  const end = openSignedEnd(home, store, { secret: auditSecret, mark: auditMark });
  const trail = new AuditTrail({ store, end, isKeyNew: isAuditSecretNew, clock, log });
  if (!isWorker) await asStartError(() => trail.recover(onNotice));
  const throttle = createLoginThrottle({ clock });
  const reach = { isLoopback, isShared: store.shared !== undefined };
  const setup = createSetupGate({ mode: config.auth.setup, ...reach, clock, ids });
  if (authEnabled && !isWorker && users.count === 0 && setup.willNeedCode) log.warn({}, toSetupHint(setup));
  const { consents, mcp } = await openToolAccounts(options, { store, vault, users, live, baseUrl, fetch, guarded });
  return {
    vault,
    mcp,
    consents,
    isLoginSecretChosen: chosenSecret(environment) !== undefined,
    roles,
    users,
    tokens,
    sessions,
    holders,
    codes,
    authenticator,
    reload,
    passwords,
    setup,
    orgs: createOrgs({ store, clock }),
    oidc: createOidcLogin({
      settings: provider,
      users,
      roles,
      store,
      key: signingKey,
      throttle,
      fetch,
      clock,
      ids,
      log,
    }),
    throttle,
    clock,
    trail,
    audit: createCallAudit({ trail, users, clock, ids, log }),
    baseUrl,
    ownSecrets: [operatorToken, auditSecret, loginSecret, ...(await readMachineKeys(home, environment)).map(toKeyText)],
    link: () => loginLink({ authenticator, codes, baseUrl }, OPERATOR),
  };
}

function openSignedEnd(
  home: string,
  store: DaemonStore,
  { secret, mark }: { secret: string; mark: AuditMark },
): SignedEnd {
  const shared = sharedText(store, 'audit_head');
  return new SignedEnd({ file: createAuditHeadFile({ path: path.join(home, AUDIT_HEAD_FILE), secret, shared }), mark });
}

/** The settings with the tool servers that were added over the wire. */
const withStored = (
  live: AccountDeps['live'],
  { stored }: Awaited<ReturnType<typeof openStoredServers>>,
): ConsentDeps['live'] => ({
  get mcp() {
    return { servers: stored.servers(), clientMetadataUrl: live.mcp.clientMetadataUrl };
  },
  get privateHosts() {
    return live.privateHosts;
  },
});

const toSetupHint = (setup: ReturnType<typeof createSetupGate>): string =>
  `there are no users yet; creating the first one needs the setup code ${setup.code}${setup.needsCode() ? '' : ' 15 minutes after the start'}`;

interface ToolAccountParts
  extends Pick<ConsentDeps, 'users' | 'baseUrl'>,
    Pick<AccountDeps, 'store' | 'live' | 'fetch'> {
  vault: Vault;
  guarded: AccountDeps['secrets'];
}

/** The tool servers of the database, and the accounts of people at all of them. */
async function openToolAccounts(
  { environment, clock, ids, log }: AccountOptions,
  { store, vault, users, live, baseUrl, fetch, guarded }: ToolAccountParts,
) {
  const mcp = await openStoredServers({ live, vault, learn: guarded.learn, fetch, clock, ids, log });
  const consents = new Consents({
    store,
    vault,
    users,
    live: withStored(live, mcp),
    environment,
    fetch,
    baseUrl,
    hide: guarded.replacePassing,
    clock,
    ids,
    log,
  });
  return { mcp, consents };
}

function openVault(
  options: AccountOptions,
  { store, onNotice }: Pick<AccountDeps, 'store' | 'onNotice'>,
): Promise<Vault> {
  const { home, newSecrets, environment, ids, clock, log } = options;
  const keys = machineKeyFiles(home, environment, ids);
  return Vault.open({ store, keys, discardsLost: newSecrets, storePath: store.place, clock, log, onNotice });
}

/** Checks passwords in threads. One core stays free for everything else. */
export const openPasswords = ({ assets }: Pick<DaemonOptions, 'assets'>) =>
  createPasswords({
    derive: createPasswordThreads(assets.passwordWorkerUrl),
    atOnce: Math.min(Math.max(availableParallelism() - 1, 1), 2),
  });
