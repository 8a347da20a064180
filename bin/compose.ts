import type { Server } from 'node:http';
import { hostname, platform } from 'node:os';
import path from 'node:path';
import { readOutput } from '../src/agent/process/output-files.ts';
import { createModels } from '../src/agent/providers/models.ts';
import type { Clock } from '../src/clock.ts';
import { createAttachmentFiles } from '../src/gateway/attachments/attachment-files.ts';
import { openApiTokens } from '../src/gateway/auth/api-tokens.ts';
import { createAuthenticator } from '../src/gateway/auth/create-authenticator.ts';
import { createLoginCodes } from '../src/gateway/auth/login-codes.ts';
import { openLoginSessions } from '../src/gateway/auth/login-sessions.ts';
import { createLoginThrottle } from '../src/gateway/auth/login-throttle.ts';
import { openOperatorToken } from '../src/gateway/auth/operator-token.ts';
import { openSigningKey } from '../src/gateway/auth/signing-key.ts';
import { createGateway, type Gateway, type GatewayDeps } from '../src/gateway/gateway.ts';
import type { LogRing } from '../src/gateway/log-ring.ts';
import { loginLink } from '../src/gateway/methods/auth.ts';
import { toNodeDirectory } from '../src/gateway/nodes/node-directory.ts';
import { openNodes } from '../src/gateway/nodes/nodes.ts';
import { startCheckpointThread } from '../src/gateway/store/checkpoint-thread.ts';
import { lockHome } from '../src/gateway/store/home-lock.ts';
import { openSqliteStore, type SqliteStore } from '../src/gateway/store/sqlite-store.ts';
import { resolveWorkdir, type WorkdirPolicy } from '../src/gateway/workstreams/workdir.ts';
import { createHttpApp } from '../src/http/app.ts';
import { BodyDeadlines } from '../src/http/body-deadlines.ts';
import { createRateLimit } from '../src/http/rate-limit.ts';
import { createHttpServer } from '../src/http/server.ts';
import type { Ids } from '../src/ids.ts';
import type { Log } from '../src/log.ts';
import { runInBackground } from './background.ts';
import { type ClientPolicies, clientPolicies } from './client-policies.ts';
import type { Config } from './config.ts';
import { createConfigFile } from './config-file.ts';
import { closeServer, listen, urlOf } from './listen.ts';
import { createLiveConfig, type LiveConfig } from './live-config.ts';
import { StartError } from './start-error.ts';
import { createTools, outputsOf } from './tools.ts';

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
  pageHtml: string;
  scriptSources: string[];
  styleSources: string[];
  openapi: unknown;
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
  notices: string[];
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
  const startNotices = [...store.notices];
  const url = () => urlOf({ ...address, publicUrl: options.config.server.publicUrl });
  const models = createModels({ ...options, model: options.model });
  await asStartError(() => models.start());
  const live = createLiveConfig(options);
  const { runner, ...tools } = await createAgentParts(options, { store, live });
  const workdirs = workdirPolicyOf(options);
  const workdir = await asStartError(() => resolveWorkdir(workdirs));
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
    resolveWorkdir: (asked) => resolveWorkdir(workdirs, asked),
    attachmentFiles: createAttachmentFiles(path.join(options.home, 'attachments')),
    readOutput: (name, range) => readOutput(outputsOf(options.home), name, range),
    ...clients,
    server: { version: options.version, host: hostname(), nodeId: nodeIdOf(store), platform: platform() },
    live,
    hostTimeZone: options.hostTimeZone,
    webhooks: { destinations: () => live.webhooks, fetch },
    configFile: createConfigFile({ ...options, live }),
  });
  gateway.metrics.observeProcess();
  await gateway.recover();
  const bodies = new BodyDeadlines({ clock });
  const server = createHttp(options, { gateway, ...clients, ...auth, bodies, closing: stopping.signal });
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

/** What the agent acts with: its tools, and the nodes that one of them reaches. */
async function createAgentParts(options: DaemonOptions, { store, live }: { store: SqliteStore; live: LiveConfig }) {
  const nodes = await openNodes({ ...options, store, lastAliveMs: store.lastAliveMs, rules: () => live.nodes });
  return { nodes, ...(await createTools({ ...options, live, nodes: toNodeDirectory(nodes) })) };
}

const workdirPolicyOf = ({ home, userHome, workdir, config }: DaemonOptions): WorkdirPolicy => ({
  home,
  userHome,
  standard: workdir ?? config.workdir ?? path.join(home, 'workspace'),
});

interface AuthParts {
  store: SqliteStore;
  baseUrl(): string;
  onNotice(notice: string): void;
}

async function createAuth(options: DaemonOptions, { store, baseUrl, onNotice }: AuthParts) {
  const { home, ids, clock } = options;
  const key = await asStartError(() => openSigningKey({ ...options, onNotice }));
  const operatorToken = await asStartError(() => openOperatorToken(home, ids));
  const sessions = await openLoginSessions({ store, key, clock, ids });
  const tokens = await openApiTokens({ store, clock, ids, log: options.log });
  const authenticator = createAuthenticator({ enabled: options.authEnabled, operatorToken, tokens, sessions });
  const codes = createLoginCodes({ store, clock, ids });
  const throttle = createLoginThrottle({ clock });
  return {
    authenticator,
    tokens,
    sessions,
    codes,
    throttle,
    baseUrl,
    link: () => loginLink({ authenticator, codes, baseUrl }),
  };
}

interface HttpParts extends ClientPolicies {
  gateway: Gateway;
  authenticator: GatewayDeps['authenticator'];
  bodies: BodyDeadlines;
  closing: AbortSignal;
}

function createHttp(options: DaemonOptions, parts: HttpParts): Server {
  const { gateway, originPolicy, clientAddress, authenticator, bodies, closing } = parts;
  const { assets, clock, log } = options;
  const { ratelimit } = options.config;
  const { pageHtml: html, scriptSources, styleSources, openapi } = assets;
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
    page: { html, scriptSources, styleSources },
    openapi,
    clock,
    log,
    closing,
  });
  const server = createHttpServer(app, { bodies, clock, log });
  gateway.sockets.attach(server);
  return server;
}

/** The machine as /health names it: its host name and what tells two daemons of it apart, the same at every start. */
const nodeIdOf = ({ epoch }: SqliteStore): string => `${hostname() || 'headgate'}_${epoch.slice(0, 4)}`;

/** What is wrong with the machine or its files is told to the person in one line. */
async function asStartError<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function once<A>(action: (argument: A) => Promise<void>): (argument: A) => Promise<void> {
  let running: Promise<void> | undefined;
  return (argument) => {
    running ??= action(argument);
    return running;
  };
}
