import type { Server } from 'node:http';
import { hostname, platform } from 'node:os';
import path from 'node:path';
import { type Notice, warn } from '../protocol/notice.ts';
import { wordsOf } from '../protocol/words-of.ts';
import { readOutput } from '../src/agent/process/output-files.ts';
import type { IsSandboxedPeer } from '../src/agent/process/sandboxed-peers.ts';
import { createModels } from '../src/agent/providers/models.ts';
import type { Clock } from '../src/clock.ts';
import { createAttachmentFiles } from '../src/gateway/attachments/attachment-files.ts';
import { openApiTokens } from '../src/gateway/auth/api-tokens.ts';
import { createAuthenticator } from '../src/gateway/auth/create-authenticator.ts';
import { endFormerOperator } from '../src/gateway/auth/former-operator.ts';
import { OPERATOR } from '../src/gateway/auth/lineage.ts';
import { createLoginCodes } from '../src/gateway/auth/login-codes.ts';
import { openLoginSessions } from '../src/gateway/auth/login-sessions.ts';
import { createLoginThrottle } from '../src/gateway/auth/login-throttle.ts';
import { openOperatorToken } from '../src/gateway/auth/operator-token.ts';
import { openSigningKey } from '../src/gateway/auth/signing-key.ts';
import { createGateway, type Gateway, type GatewayDeps } from '../src/gateway/gateway.ts';
import type { LogRing } from '../src/gateway/log-ring.ts';
import { loginLink } from '../src/gateway/methods/auth.ts';
import { startCheckpointThread } from '../src/gateway/store/checkpoint-thread.ts';
import { lockHome } from '../src/gateway/store/home-lock.ts';
import { openSqliteStore, type SqliteStore } from '../src/gateway/store/sqlite-store.ts';
import { createGuardedFetch } from '../src/guarded-fetch.ts';
import { createHttpApp } from '../src/http/app.ts';
import { BodyDeadlines } from '../src/http/body-deadlines.ts';
import type { StaticText } from '../src/http/encoding.ts';
import { createRateLimit } from '../src/http/rate-limit.ts';
import { createHttpServer } from '../src/http/server.ts';
import type { Ids } from '../src/ids.ts';
import type { Log } from '../src/log.ts';
import { once } from '../src/once.ts';
import { createAgentParts } from './agent-parts.ts';
import { runInBackground } from './background.ts';
import { type ClientPolicies, clientPolicies } from './client-policies.ts';
import type { Config } from './config.ts';
import { createConfigFile } from './config-file.ts';
import { openKeyHosts } from './key-hosts.ts';
import { closeServer, listen, urlOf } from './listen.ts';
import { createLiveConfig } from './live-config.ts';
import { nodeIdOf } from './node-id.ts';
import { StartError } from './start-error.ts';
import { outputsOf } from './tools.ts';
import { openWorkdirs } from './workdirs.ts';

/** Everything a daemon is made of that is not its own code: what the command line, the environment and the build say. */
export interface DaemonOptions {
  /** Absolute; exists with mode 0700. */
  home: string;
  host: string;
  /** 0: any free one. */
  port: number;
  workdir?: string;
  model?: string;
  authEnabled: boolean;
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
  userHome: string;
  /** The user's number; undefined where the system has none. */
  uid: number | undefined;
  version: string;
  /** Of this machine, an IANA name. */
  hostTimeZone: string;
  /** Names this run of the machine. */
  bootId: string;
  assets: Assets;
  log: Log;
  setLogLevel(level: Config['logLevel']): void;
  /** What `log` has written lately. */
  logRing: LogRing;
  clock: Clock;
  ids: Ids;
  /** Only for parts that stand in for ours in tests. */
  replace?: Replacements;
}

/** What the build made. */
export interface Assets {
  pageHtml: StaticText;
  /** Of what the page is made of. */
  licenses: StaticText;
  scriptSources: string[];
  styleSources: string[];
  openapi: StaticText;
  searchWorkerUrl: URL;
  checkpointWorkerUrl: URL;
}

export interface Replacements {
  store?(store: SqliteStore): SqliteStore;
}

/** A daemon that answers. */
export interface Daemon {
  url: string;
  port: number;
  model: { alias: string; provider: string; modelId: string };
  /** Where workstreams work when nothing else is said. */
  workdir: string;
  notices: Notice[];
  notSandboxed: string | undefined;
  loginLink(): Promise<{ url: string; expiresAtMs: number }>;
  /** Says good-bye, lets writes finish and lets go of the home. Idempotent. */
  shutdown(reason: string): Promise<void>;
}

/** From choices to running parts: the only file that names implementations. The port opens when all else is ready. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const lock = await asStartError(() => lockHome(options.home));
  try {
    const store = await openStore(options);
    try {
      return await serve(options, { store, release: lock.release });
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openStore({ home, clock, log, config, bootId, assets, replace }: DaemonOptions): Promise<SqliteStore> {
  const file = path.join(home, 'headgate.db');
  const store = await asStartError(() =>
    openSqliteStore({
      path: file,
      clock,
      log,
      durability: config.durability,
      bootId,
      checkpoint: startCheckpointThread({ url: assets.checkpointWorkerUrl, path: file }),
    }),
  );
  return replace?.store ? replace.store(store) : store;
}

interface Held {
  store: SqliteStore;
  release(): void;
}

async function serve(options: DaemonOptions, { store, release }: Held): Promise<Daemon> {
  const { clock, log, host } = options;
  const address = { host, port: options.port };
  const stopping = new AbortController();
  const url = () => urlOf({ ...address, publicUrl: options.config.server.publicUrl });
  const live = createLiveConfig(options);
  const fetch = createGuardedFetch({ privateHosts: () => live.privateHosts, environment: options.environment });
  const models = createModels({ ...options, fetch, model: options.model });
  await asStartError(() => models.start());
  const { workdirs, workdir } = await asStartError(() => openWorkdirs(options, store));
  const { runner, notices, ...tools } = await createAgentParts({ ...options, workdir }, { store, live });
  const startNotices = [...store.notices, ...notices];
  const auth = await createAuth(options, { store, baseUrl: url, onNotice: (notice) => startNotices.push(notice) });
  const clients = clientPolicies(options, address);
  const gateway = createGateway({
    ...options,
    ...auth,
    auth,
    store,
    storePath: path.join(options.home, 'headgate.db'),
    lastAliveMs: store.lastAliveMs,
    startNotices,
    models,
    ...tools,
    killLeftover: (process) => runner.killLeftover(process),
    workdirs,
    attachmentFiles: createAttachmentFiles(path.join(options.home, 'attachments')),
    readOutput: (name, range) => readOutput(outputsOf(options.home), name, range),
    ...clients,
    server: machineOf(options),
    live,
    hostTimeZone: options.hostTimeZone,
    webhooks: { destinations: () => live.webhooks, fetch },
    configFile: createConfigFile({ ...options, live, keyHosts: await openKeyHosts(options) }),
  });
  gateway.metrics.observeProcess();
  await gateway.recover();
  const bodies = new BodyDeadlines({ clock });
  const server = createHttp(options, { gateway, ...clients, ...auth, ...tools, bodies, closing: stopping.signal });
  address.port = await listen(server, address);
  const background = runInBackground({
    ...{ clock, log, live, gateway, models, store, auth, bodies },
    outputs: outputsOf(options.home),
    signal: stopping.signal,
  });
  const shutdown = once(async (reason: string) => {
    server.close(); // nobody new from here on
    stopping.abort(new Error(reason));
    await gateway.shutdown(reason);
    await closeServer(server);
    await background;
    await store.close();
    release();
  });
  return {
    url: url(),
    port: address.port,
    model: models.current(),
    workdir,
    notices: [...startNotices, ...models.notices()],
    notSandboxed: tools.notSandboxed,
    loginLink: () => auth.link(),
    shutdown,
  };
}

interface AuthParts {
  store: SqliteStore;
  baseUrl(): string;
  onNotice(notice: Notice): void;
}

async function createAuth(options: DaemonOptions, { store, baseUrl, onNotice }: AuthParts) {
  const { home, ids, clock } = options;
  const key = await asStartError(() => openSigningKey({ ...options, onNotice }));
  const operatorToken = await asStartError(() => openOperatorToken(home, ids));
  const notice = await endFormerOperator({ store, operatorToken, clock });
  if (notice !== undefined) onNotice(warn('operator_token_changed', notice));
  const tokens = await openApiTokens({ store, clock, ids, log: options.log });
  const sessions = await openLoginSessions({ store, key, clock, ids, lineage: tokens });
  const authenticator = createAuthenticator({ enabled: options.authEnabled, operatorToken, tokens, sessions });
  const codes = createLoginCodes({ store, clock, ids, lineage: tokens });
  const throttle = createLoginThrottle({ clock });
  return {
    authenticator,
    tokens,
    sessions,
    codes,
    throttle,
    baseUrl,
    link: () => loginLink({ authenticator, codes, baseUrl }, OPERATOR),
  };
}

interface HttpParts extends ClientPolicies {
  gateway: Gateway;
  authenticator: GatewayDeps['authenticator'];
  isSandboxedPeer: IsSandboxedPeer;
  bodies: BodyDeadlines;
  closing: AbortSignal;
}

function createHttp(options: DaemonOptions, parts: HttpParts): Server {
  const { gateway, originPolicy, clientAddress, authenticator, isSandboxedPeer, bodies, closing } = parts;
  const { assets, clock, log } = options;
  const { ratelimit } = options.config;
  const { pageHtml: html, licenses, scriptSources, styleSources, openapi } = assets;
  const app = createHttpApp({
    dispatch: gateway.dispatch,
    authenticator,
    streams: gateway.streams,
    attachments: gateway.attachments,
    bodies,
    metrics: gateway.metrics,
    originPolicy,
    clientAddress,
    rateLimit: ratelimit.enabled ? createRateLimit(ratelimit, { clientAddress, clock }) : undefined,
    page: { html, licenses, scriptSources, styleSources },
    openapi,
    clock,
    log,
    closing,
  });
  const server = createHttpServer(app, { bodies, isSandboxedPeer, clock, log });
  gateway.sockets.attach(server);
  return server;
}

/** How the daemon introduces itself. */
const machineOf = ({ version, home }: DaemonOptions): GatewayDeps['server'] => {
  const host = hostname();
  return { version, host, nodeId: nodeIdOf(home, host), platform: platform() };
};

/** What is wrong with the machine or its files is told to the person in one line. */
async function asStartError<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StartError(wordsOf(error), { cause: error });
  }
}
