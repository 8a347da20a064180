import type { Server } from 'node:http';
import { hostname, platform } from 'node:os';
import path from 'node:path';
import { createProcessRunner, type ProcessRunner } from '../src/agent/process/runner.ts';
import { detectSandbox } from '../src/agent/process/sandbox.ts';
import { createModels } from '../src/agent/providers/models.ts';
import { createBashTool } from '../src/agent/tools/bash.ts';
import { createConfinement } from '../src/agent/tools/confinement.ts';
import { createEditFileTool } from '../src/agent/tools/edit-file.ts';
import { createListDirectoryTool } from '../src/agent/tools/list-directory.ts';
import { createReadFileTool } from '../src/agent/tools/read-file.ts';
import { createSearchTool } from '../src/agent/tools/search.ts';
import { findRipgrep } from '../src/agent/tools/search-ripgrep.ts';
import { createToolbox, type Toolbox } from '../src/agent/tools/toolbox.ts';
import { createWriteFileTool } from '../src/agent/tools/write-file.ts';
import type { Clock } from '../src/clock.ts';
import { createAuthenticator } from '../src/gateway/auth/create-authenticator.ts';
import { createLoginCodes } from '../src/gateway/auth/login-codes.ts';
import { openLoginSessions } from '../src/gateway/auth/login-sessions.ts';
import { createLoginThrottle } from '../src/gateway/auth/login-throttle.ts';
import { openOperatorToken } from '../src/gateway/auth/operator-token.ts';
import { createOriginPolicy, type OriginPolicy } from '../src/gateway/auth/origin-policy.ts';
import { openSigningKey } from '../src/gateway/auth/signing-key.ts';
import { createGateway, type Gateway, type GatewayDeps } from '../src/gateway/gateway.ts';
import { loginLink } from '../src/gateway/methods/auth.ts';
import { startCheckpointThread } from '../src/gateway/store/checkpoint-thread.ts';
import { lockHome } from '../src/gateway/store/home-lock.ts';
import { createRetention } from '../src/gateway/store/retention.ts';
import { openSqliteStore, type SqliteStore } from '../src/gateway/store/sqlite-store.ts';
import { resolveWorkdir } from '../src/gateway/workstreams/workdir.ts';
import { createHttpApp } from '../src/http/app.ts';
import { createHttpServer } from '../src/http/server.ts';
import type { Ids } from '../src/ids.ts';
import type { Log } from '../src/log.ts';
import type { Config } from './config.ts';

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
  /** Names this run of the machine. */
  bootId: string;
  assets: Assets;
  log: Log;
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

/** The daemon cannot start, in words for the person who started it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** From choices to running parts: the only file that names implementations. The port opens when all else is ready. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const lock = asStartError(() => lockHome(options.home));
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
  const models = createModels({
    config: options.config,
    environment: options.environment,
    model: options.model,
    clock,
    log,
  });
  await asStartError(() => models.start());
  const { toolbox, runner, notSandboxed } = await createTools(options);
  const standard = options.workdir ?? options.config.workdir ?? path.join(options.home, 'workspace');
  const workdirs = { home: options.home, userHome: options.userHome, standard };
  const workdir = await asStartError(() => resolveWorkdir(workdirs));
  const auth = await createAuth(options, { store, baseUrl: () => urlOf(options, address.port) });
  const originPolicy = originPolicyAt(options, address);
  const gateway = createGateway({
    ...options,
    ...auth,
    auth,
    store,
    storePath: path.join(options.home, 'headgate.db'),
    lastAliveMs: store.lastAliveMs,
    models,
    toolbox,
    notSandboxed,
    killLeftover: (process) => runner.killLeftover(process),
    resolveWorkdir: (asked) => resolveWorkdir(workdirs, asked),
    originPolicy,
    server: { version: options.version, host: hostname(), nodeId: nodeIdOf(options.ids), platform: platform() },
    approvalMs: options.config.approvalTimeoutSecs * 1000,
    maxWorkstreams: options.config.server.maxWorkstreams,
  });
  await gateway.recover();
  const server = createHttp(options, { gateway, originPolicy, ...auth, closing: stopping.signal });
  address.port = await listen(server, address);
  const background = runInBackground(options, { gateway, models, store, auth, signal: stopping.signal });
  const shutdown = once(async (reason: string) => {
    stopping.abort(new Error(reason));
    await gateway.shutdown(reason);
    await closeServer(server);
    await background;
    await store.close();
    release();
  });
  return {
    url: urlOf(options, address.port),
    port: address.port,
    model: models.current(),
    workdir,
    notices: models.notices(),
    notSandboxed,
    loginLink: () => auth.link(),
    shutdown,
  };
}

async function createTools(
  options: DaemonOptions,
): Promise<{ toolbox: Toolbox; runner: ProcessRunner; notSandboxed: string | undefined }> {
  const { home, environment, clock, ids, config, assets } = options;
  const sandbox = await detectSandbox({ mode: config.tools.sandbox, home, environment, clock });
  const runner = createProcessRunner({ clock, environment, sandbox });
  const confinement = createConfinement({ home });
  const ripgrep = await findRipgrep(environment);
  const toolbox = createToolbox([
    createBashTool({ runner, outputs: path.join(home, 'outputs'), ids }),
    createReadFileTool({ confinement }),
    createWriteFileTool({ confinement }),
    createEditFileTool({ confinement }),
    createSearchTool({ confinement, clock, ripgrep, workerUrl: assets.searchWorkerUrl }),
    createListDirectoryTool({ confinement }),
  ]);
  return { toolbox, runner, notSandboxed: sandbox.kind === 'none' ? sandbox.reason : undefined };
}

async function createAuth(options: DaemonOptions, { store, baseUrl }: { store: SqliteStore; baseUrl(): string }) {
  const { home, ids, clock } = options;
  const key = await asStartError(() => openSigningKey(options));
  const operatorToken = await asStartError(() => openOperatorToken(home, ids));
  const sessions = await openLoginSessions({ store, key, clock, ids });
  const authenticator = createAuthenticator({ enabled: options.authEnabled, operatorToken, sessions });
  const codes = createLoginCodes({ store, clock, ids });
  const throttle = createLoginThrottle({ clock });
  return { authenticator, sessions, codes, throttle, baseUrl, link: () => loginLink({ authenticator, codes, baseUrl }) };
}

/** With port 0 the port is known only once the server listens; the Host check needs it for names beyond loopback. */
function originPolicyAt({ authEnabled, config }: DaemonOptions, address: { host: string; port: number }): OriginPolicy {
  const { allowedHosts, publicUrl } = config.server;
  const make = () => createOriginPolicy({ authEnabled, allowedHosts, publicUrl, ...address });
  let made = { port: address.port, policy: make() };
  const policy = () => {
    if (made.port !== address.port) made = { port: address.port, policy: make() };
    return made.policy;
  };
  return {
    checkHost: (host) => policy().checkHost(host),
    isOwn: (origin, host) => policy().isOwn(origin, host),
    isForeign: (headers) => policy().isForeign(headers),
    admitsForeign: (method, url) => policy().admitsForeign(method, url),
  };
}

interface HttpParts {
  gateway: Gateway;
  originPolicy: OriginPolicy;
  authenticator: GatewayDeps['authenticator'];
  closing: AbortSignal;
}

function createHttp(options: DaemonOptions, { gateway, originPolicy, authenticator, closing }: HttpParts): Server {
  const { assets, clock, log } = options;
  const { pageHtml: html, scriptSources, styleSources, openapi } = assets;
  const app = createHttpApp({
    dispatch: gateway.dispatch,
    authenticator,
    streams: gateway.streams,
    metrics: gateway.metrics,
    originPolicy,
    page: { html, scriptSources, styleSources },
    openapi,
    clock,
    log,
    closing,
  });
  const server = createHttpServer(app, { log });
  gateway.sockets.attach(server);
  return server;
}

interface BackgroundParts {
  gateway: Gateway;
  models: { run(signal: AbortSignal): Promise<void> };
  store: SqliteStore;
  auth: { sessions: { run(signal: AbortSignal): Promise<void> } };
  signal: AbortSignal;
}

/** Approvals do not age while the daemon is down: it leaves a sign of life this often. */
const ALIVE_MS = 30_000;

function runInBackground({ clock, log, config }: DaemonOptions, parts: BackgroundParts): Promise<unknown> {
  const { gateway, models, store, auth, signal } = parts;
  const retention = createRetention({ store, clock, log, eventDays: config.retentionDays });
  const stayAlive = async () => {
    while (!signal.aborted) {
      await store.markAlive(clock.now()).catch((error: unknown) => log.warn({ err: error }, 'no sign of life stored'));
      await clock.sleep(ALIVE_MS, signal).catch(() => undefined); // aborted: the loop ends
    }
  };
  const services = { gateway, models, logins: auth.sessions, retention, alive: { run: stayAlive } };
  return Promise.all(
    Object.entries(services).map(async ([name, service]) => {
      try {
        await service.run(signal);
      } catch (error) {
        if (!signal.aborted) log.error({ err: error, service: name }, 'a background service ended');
      }
    }),
  );
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen({ host, port }, () => {
    server.off('error', reject);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : port);
  });
  try {
    return await promise;
  } catch (error) {
    throw new StartError(listenProblem(error, { host, port }), { cause: error });
  }
}

function listenProblem(error: unknown, { host, port }: { host: string; port: number }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use. Choose another with --port N.`;
  if (code === 'EACCES') return `Port ${port} needs more rights. Choose one above 1023 with --port N.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `This machine has no address ${host} (--host).`;
  return `Cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`;
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

function urlOf({ config, host }: DaemonOptions, port: number): string {
  if (config.server.publicUrl !== undefined) return config.server.publicUrl.replace(/\/$/, '');
  const name = host === '0.0.0.0' || host === '127.0.0.1' || host === '::' || host === '::1' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** The machine as /health names it: its host name and four characters that tell two daemons of it apart. */
const nodeIdOf = (ids: Ids): string => `${hostname() || 'headgate'}_${ids.secret(2)}`;

/** What is wrong with the machine or its files is told to the person in one line. */
function asStartError<T>(work: () => T): T {
  const wrap = (error: unknown) => {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(wrap) as T) : result;
  } catch (error) {
    return wrap(error);
  }
}

function once<A>(action: (argument: A) => Promise<void>): (argument: A) => Promise<void> {
  let running: Promise<void> | undefined;
  return (argument) => {
    running ??= action(argument);
    return running;
  };
}
