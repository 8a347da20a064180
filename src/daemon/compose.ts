import { realpath } from 'node:fs/promises';
import type { Server } from 'node:http';
import path from 'node:path';
import { createSnapshotThread } from '../agent/checkpoints/checkpoint-files.ts';
import { createOutputChecks } from '../agent/output/answer-checks.ts';
import { createSurroundings } from '../agent/prefix/surroundings.ts';
import { createProjectCommands } from '../agent/project/project-commands.ts';
import { createPdfText } from '../agent/tools/documents/attached-pdf.ts';
import { createGuardedEgress } from '../egress/guarded-egress.ts';
import { createAttachmentFiles } from '../gateway/attachments/attachment-files.ts';
import { createCommandAudit } from '../gateway/audit/connection-audit.ts';
import type { MachineSessions } from '../gateway/auth/machines/machine-sessions.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import type { DaemonStore } from '../gateway/store/daemon-store.ts';
import { lockHome } from '../gateway/store/home-lock.ts';
import type { Machines, Membership } from '../gateway/workers/team.ts';
import { createHttpApp } from '../http/app.ts';
import { BodyDeadlines } from '../http/body-deadlines.ts';
import { createHttpServer } from '../http/server.ts';
import type { StandbyServer } from '../http/standby/standby-server.ts';
import { descriptorOf, type ListenAddress, urlOf } from '../listen.ts';
import { openAccounts, openPasswords } from './accounts.ts';
import { createAgent } from './agent.ts';
import { asStartError } from './as-start-error.ts';
import { runInBackground } from './background.ts';
import { type ClientPolicies, clientPolicies, rateLimitOf } from './client-policies.ts';
import { channelServices } from './config/channels/channel-services.ts';
import type { Config } from './config/config.ts';
import { createConfigFile } from './config/config-file.ts';
import { createGuardedSecrets } from './config/guarded-secrets.ts';
import { openKeyHosts } from './config/key-hosts.ts';
import { createLiveConfig, type LiveConfig } from './config/live-config.ts';
import { createStartCheck } from './config/start-check.ts';
import type { Daemon, DaemonOptions } from './daemon-options.ts';
import { endStandby } from './life/end-standby.ts';
import { joinAsWorker } from './life/join-as-worker.ts';
import { listenAfter } from './life/listen-after.ts';
import { machinesOf, proofOf } from './life/other-daemons.ts';
import { sharedBy } from './life/shared-by.ts';
import { createShutdown, type Held } from './life/shutdown.ts';
import { takeTurn } from './life/take-turn.ts';
import { workingTogether } from './life/working-together.ts';
import { machineOf, machineOfProcess } from './node-id.ts';
import { openCommandsWay } from './programs.ts';
import { startModels } from './tools/start-models.ts';
import { openTracing } from './tracing/open-tracing.ts';
import { openWorkdirs } from './workdirs.ts';

/** Creates and connects all parts; only this file and tools.ts name implementations. The port opens last. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const lock = await asStartError(() => lockHome(options.home));
  const { host, config } = options;
  const address: ListenAddress = { host, port: options.port, descriptor: options.descriptor };
  const url = () => urlOf({ host, port: address.port, publicUrl: config.server.publicUrl });
  const server = machineOf(options, url);
  try {
    const proof = proofOf(options);
    const membership: Membership = { isJoined: false, trouble: undefined };
    const machine = machineOfProcess(options, { server, address, proof, membership });
    const { store, listening, candidate } = options.worker
      ? await joinAsWorker(options, { machine, proof, address, membership })
      : { candidate: undefined, ...(await takeTurn(options, { machine, proof, address })) };
    try {
      const machines = machinesOf(store, proof, options);
      const together = await workingTogether(options, { store, proof, candidate, membership });
      return await serve(options, { store, listening, address, server, machines, together, release: lock.release });
    } catch (error) {
      await store.close();
      if (listening) await endStandby(listening);
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Placed extends Held {
  /** Of the standby that this daemon was. */
  listening: StandbyServer | undefined;
  /** Its port is known once the server listens. */
  address: ListenAddress;
  server: GatewayDeps['server'];
  /** The other daemons of the database; undefined if there can be none. */
  machines: MachineSessions | undefined;
  /** Those that have workstreams; undefined if there can be none. */
  together: Machines | undefined;
}

async function serve(options: DaemonOptions, placed: Placed): Promise<Daemon> {
  const { config, environment, setLogLevel, clock, log } = options;
  const { store, listening, address, together, release } = placed;
  const stopping = new AbortController();
  const secrets = createGuardedSecrets({ config, environment });
  const changes = [secrets.learnConfig, (next: Config) => models.reconfigure(next)];
  const live = createLiveConfig({ config, environment, setLogLevel, changes });
  const { fetch, post } = createGuardedEgress({ privateHosts: () => live.privateHosts, environment });
  const models = await startModels(options, { fetch, post });
  const { workdirs, workdir } = await asStartError(() => openWorkdirs(options, store));
  const startNotices = [...store.notices];
  const tracing = await openTracing(options, fetch);
  const { auth, commandsWay } = await openBoth(options, workdir, {
    store,
    baseUrl: placed.server.url,
    passwords: openPasswords(options),
    live,
    secrets,
    fetch,
    onNotice: (notice) => startNotices.push(notice),
  });
  const commandAudit = createCommandAudit({ trail: auth.trail, clock, ids: options.ids, log });
  const agent = await createAgent(options, { commandsWay, store, together, live, secrets, commandAudit, fetch, auth });
  startNotices.push(...agent.notices);
  const policies = clientPolicies(options, address, placed.machines);
  const gateway = await openGateway(options, {
    store,
    models,
    agent,
    workdirs,
    live,
    fetch,
    auth,
    policies,
    startNotices,
    tracing,
    server: placed.server,
    together,
  });
  const bodies = new BodyDeadlines({ clock });
  const { authenticator } = auth;
  const http = { gateway, authenticator, policies, machines: placed.machines, bodies, closing: stopping.signal };
  const server = await listenAfter(listening, options, { open: () => createHttp(options, http), address });
  if (options.worker) listening?.show(gateway.metrics);
  const { signal } = stopping;
  const { outputs } = agent;
  const background = runInBackground({ clock, log, live, outputs, gateway, models, store, auth, bodies, signal });
  const shutdown = createShutdown({ server, gateway, tracing, store, release }, { stopping, background, clock });
  return {
    url: placed.server.url(),
    port: address.port,
    model: models.current(),
    workdir,
    notices: [...startNotices, ...models.notices()],
    notSandboxed: agent.notSandboxed,
    descriptor: () => descriptorOf(server),
    ...sharedBy(store, gateway, options),
    loginLink: () => auth.link(),
    shutdown,
  };
}

/** The accounts, while the sandbox is tried out, which waits for another process. */
async function openBoth(options: DaemonOptions, workdir: string, deps: Parameters<typeof openAccounts>[1]) {
  const [auth, commandsWay] = await Promise.all([openAccounts(options, deps), openCommandsWay(options, workdir)]);
  deps.secrets.learn(auth.ownSecrets);
  return { auth, commandsWay };
}

interface OpenedDeps extends Pick<GatewayDeps, 'models' | 'workdirs' | 'startNotices' | 'tracing' | 'server'> {
  together: Machines | undefined;
  policies: ClientPolicies;
  store: DaemonStore;
  agent: Awaited<ReturnType<typeof createAgent>>;
  live: LiveConfig;
  fetch: typeof fetch;
  auth: Awaited<ReturnType<typeof openAccounts>>;
}

type GatewayOptions = Omit<DaemonOptions, 'host' | 'workdir' | 'model' | 'bootId' | 'setLogLevel'>;

/** The gateway, once it has recovered the runs of the previous daemon. */
async function openGateway(options: GatewayOptions, deps: OpenedDeps): Promise<Gateway> {
  const { home, environment, hostTimeZone, assets, clock, ids, log, logRing } = options;
  const { store, models, agent, workdirs, live, fetch, auth, startNotices, tracing } = deps;
  const { originPolicy, clientAddress } = deps.policies;
  const joining = deps.together && (await import('../gateway/loaded/loaded-services.ts'));
  const gatewayDeps: GatewayDeps = {
    store,
    shared: store.shared,
    storePath: store.place,
    lastAliveMs: store.lastAliveMs,
    startNotices,
    models,
    nodes: agent.nodes,
    toolbox: agent.toolbox,
    toolServers: agent.servers,
    mcpAdmin: agent.mcpAdmin,
    hooks: agent.configured.hooks,
    projectCommands: createProjectCommands(agent.folders),
    surroundings: createSurroundings({ folders: agent.folders, skills: agent.folderSkills, hostTimeZone, clock }),
    notSandboxed: agent.notSandboxed,
    outputChecks: createOutputChecks({ clock, workerUrl: assets.outputWorkerUrl }),
    background: agent.background,
    memories: agent.memories,
    skills: agent.skills,
    userHome: environment.HOME,
    killLeftover: (process) => agent.runner.killLeftover(process),
    workdirs,
    readOutput: agent.outputs.read,
    attachmentFiles: store.files?.attachments ?? createAttachmentFiles(path.join(home, 'attachments')),
    checkpointFiles: await openCheckpointFiles(options),
    workspace: agent.workspace,
    clean: agent.clean,
    channelServices: channelServices(live, { fetch, environment, home, holders: auth.holders }),
    hear: agent.configured.hear,
    pdfText: createPdfText(agent.pdf),
    auth,
    authenticator: auth.authenticator,
    originPolicy,
    clientAddress,
    server: deps.server,
    machines: deps.together,
    live,
    hostTimeZone,
    configFile: await openConfigFile(options, deps),
    restart: options.restart,
    tracing,
    clock,
    ids,
    log,
    logRing,
  };
  const gateway = createGateway(gatewayDeps, joining);
  gateway.metrics.observeProcess();
  await gateway.recover();
  return gateway;
}

async function openConfigFile(options: GatewayOptions, { live, auth }: Pick<OpenedDeps, 'live' | 'auth'>) {
  const { home, config, overrides, environment, version, clock, log } = options;
  return createConfigFile({
    home,
    live,
    keyHosts: await openKeyHosts({ home, config, environment, clock, log }),
    checkStart: createStartCheck(options),
    overrides,
    version,
    clock,
    digestOf: (text) => auth.trail.digestOf(text),
  });
}

const openCheckpointFiles = async ({ home, assets }: Pick<DaemonOptions, 'home' | 'assets'>) =>
  createSnapshotThread({
    url: assets.snapshotWorkerUrl,
    folder: path.join(home, 'checkpoints'),
    home: await realpath(home),
  });

interface HttpDeps {
  policies: ClientPolicies;
  gateway: Gateway;
  authenticator: GatewayDeps['authenticator'];
  machines: MachineSessions | undefined;
  bodies: BodyDeadlines;
  closing: AbortSignal;
}

function createHttp({ assets, config, clock, ids, log, version }: DaemonOptions, deps: HttpDeps): Server {
  const { gateway, machines, authenticator, bodies, closing } = deps;
  const { originPolicy, clientAddress } = deps.policies;
  const { pageHtml: html, pageParts: parts, licenses, scriptSources, styleSources, openapi, siteFiles } = assets;
  const app = createHttpApp({
    dispatch: gateway.dispatch,
    authenticator,
    streams: gateway.streams,
    defer: gateway.defer,
    attachments: gateway.attachments,
    exports: gateway.exports,
    findHook: gateway.findHook,
    cluster: gateway.cluster,
    bodies,
    metrics: gateway.metrics,
    originPolicy,
    clientAddress,
    machines,
    rateLimit: rateLimitOf(config.ratelimit, { clientAddress, clock }),
    page: { html, parts, licenses, scriptSources, styleSources },
    openapi,
    siteFiles,
    requestIdPrefix: ids.secret(4),
    version,
    clock,
    log,
    closing,
  });
  const server = createHttpServer(app, { bodies, clock, log });
  gateway.sockets.attach(server, app.raw.refuseUpgrade);
  return server;
}
