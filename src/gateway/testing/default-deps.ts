import assert from 'node:assert/strict';
import { join } from 'node:path';
import { z } from 'zod';
import { LIMITS } from '../../../protocol/limits.ts';
import { createBackgroundCommands } from '../../agent/background/background-commands.ts';
import { inThisThread } from '../../agent/checkpoints/checkpoint-files.ts';
import { createCheckpointWorker } from '../../agent/checkpoints/checkpoint-work.ts';
import { testGuard } from '../../agent/guard/guard-fixture.ts';
import { NO_HOOKS } from '../../agent/hooks/hooks-fixture.ts';
import { NO_TOOL_SERVERS } from '../../agent/mcp/no-servers-fixture.ts';
import { createOutputChecks } from '../../agent/output/answer-checks.ts';
import type { Surroundings } from '../../agent/prefix/surroundings.ts';
import { createFolderSkills } from '../../agent/skills/folder-skills.ts';
import type { Tool, ToolOutcome, ToolRun } from '../../agent/tools/tool.ts';
import { createToolbox, type Toolbox } from '../../agent/tools/toolbox.ts';
import { createFilesInFolders } from '../../agent/workspace/files-in-folders.ts';
import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { createLogRing } from '../../log-ring.ts';
import { until } from '../../timing/until.ts';
import { createAttachmentFiles } from '../attachments/attachment-files.ts';
import { createClientAddress } from '../auth/client-address.ts';
import { createOriginPolicy } from '../auth/origin-policy.ts';
import { createBackgroundRecords } from '../background/background-records.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { LiveSettings } from '../live-settings.ts';
import { openMemories } from '../memories/open-memories.ts';
import { openSkills } from '../skills/open-skills.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { createWatchRecords } from '../watches/watch-records.ts';
import { fakeWorkdirs } from './fake-workdirs.ts';
import { onlyWebhooks } from './only-webhooks.ts';
import { testAccounts } from './test-accounts.ts';
import { testMcpAdmin } from './test-mcp-admin.ts';

/** The requests that one connection may send when nothing is configured. */
export const INBOUND = { burst: LIMITS.inboundBurst, perSecond: LIMITS.inboundPerSecond };
/** The default settings of a gateway. */
export const LIVE: LiveSettings = {
  ...{
    approvalMs: 3_600_000,
    alwaysMs: 28_800_000,
    maxWorkstreams: 50,
    subAgents: { parallel: 4, maxTimeoutMs: 7_200_000 },
    visibility: 'shared',
    heartbeatMs: 0,
  },
  budgets: {},
  /** A puppet's next turn is not for its title. */
  session: { retentionDays: 0, titles: 'message' },
  judge: {
    ...{ enabled: false, usesModel: false, model: '', timeoutMs: 60_000, maxContextRatio: 0.5, readOnlyTools: true },
    ...{ cancelOnApproval: false, outputGuard: true, redactSecrets: true, confidenceThreshold: 0.7 },
    ...{ retentionDays: 365, tokensPerQuestion: 0 },
  },
  memory: { relevanceK: 5, fetchLimit: 50, maxContent: 32_768, nudges: true, nudgeCooldownSecs: 300 },
  checkpoints: { enabled: false, maxFileMb: 10, maxTotalMb: 512, keep: 50, keepDays: 14 },
  ...{ inbound: INBOUND, cron: { enabled: true, switchedOffBy: [], maxConcurrentRuns: 4, retentionDays: 90 } },
};

const OUTPUT_WORKER = new URL('../../agent/output/output-worker.ts', import.meta.url);

const SEARCH_WORKER = new URL('../../agent/tools/search/search-worker.ts', import.meta.url);

const notHere = () => assert.fail('no configuration file');
const NO_CONFIG_FILE = {
  ...{ read: notHere, write: notHere, patch: notHere, schema: notHere, reload: notHere, digests: notHere },
  overrides: new Map(),
  fileOnly: [],
};

/** Nothing listens there. */
const NO_SOURCES = {
  discoveryUrl: 'http://127.0.0.1:1',
  apiUrl: 'http://127.0.0.1:1',
  rawUrl: 'http://127.0.0.1:1',
  privateHosts: [],
};

type Machine = Pick<GatewayDeps, 'clock' | 'log'> & { store: SqliteStore; dir: string };

const SERVER: GatewayDeps['server'] = {
  version: '1.2.3',
  host: 'here',
  nodeId: 'node',
  labels: ['desk'],
  platform: 'linux',
  url: () => 'http://127.0.0.1:1',
};

/** The default dependencies of a gateway. Authentication is off, but there can be users. */
export async function defaultDeps({
  store,
  dir,
  clock,
  log,
}: Machine): Promise<Omit<GatewayDeps, 'models' | 'nodes' | 'toolbox'>> {
  const auth = await testAccounts({ store, dir, enabled: false, clock, log });
  const { authenticator } = auth;
  return {
    store,
    hostTimeZone: 'Europe/Berlin',
    storePath: '/home/ada/.headgate/headgate.db',
    lastAliveMs: store.lastAliveMs,
    startNotices: [],
    restart: async () => ({ version: '1.0.0', pid: 1, migration: null }),
    checkFramesEvery: 1,
    projectCommands: { list: async () => [], others: async () => ({ waiting: [], odd: [] }) },
    surroundings: plainSurroundings(clock),
    notSandboxed: undefined,
    toolServers: NO_TOOL_SERVERS,
    mcpAdmin: await testMcpAdmin({ vault: auth.vault, clock, log }),
    hooks: { ofRun: () => NO_HOOKS, settled: async () => undefined },
    outputChecks: createOutputChecks({ clock: systemClock, workerUrl: OUTPUT_WORKER }),
    background: testBackground({ store, dir, clock, log }),
    memories: openMemories({ store, clock, ids: randomIds, log, settings: () => LIVE.memory }),
    skills: openSkills({
      store,
      folders: createFolderSkills({ home: dir, trusted: () => [] }),
      nodeId: 'node',
      get: () => assert.fail('no request is expected'),
      sources: () => NO_SOURCES,
      clock,
      ids: randomIds,
    }),
    userHome: undefined,
    killLeftover: async () => undefined,
    workdirs: fakeWorkdirs,
    readOutput: async () => undefined,
    attachmentFiles: store.files?.attachments ?? createAttachmentFiles(join(dir, 'attachments')),
    workspace: createFilesInFolders({
      home: dir,
      clock: systemClock,
      searchWorkerUrl: SEARCH_WORKER,
      programs: { rg: { kind: 'missing' }, git: { kind: 'missing' } },
    }),
    checkpointFiles: inThisThread(
      createCheckpointWorker({ folder: join(dir, 'checkpoints'), home: dir, now: systemClock.now }),
    ),
    clean: (text) => text,
    auth,
    authenticator,
    logRing: createLogRing('test'),
    channelServices: onlyWebhooks({ destinations: () => new Map(), fetch }),
    pdfText: async ({ name }) => `text of ${name}`,
    hear: async () => ({ kind: 'unheard' as const, why: 'nothing listens here' }),
    clientAddress: createClientAddress([]),
    originPolicy: localOrigins({ authEnabled: false }),
    server: SERVER,
    live: LIVE,
    configFile: NO_CONFIG_FILE,
    clock,
    ids: randomIds,
    log,
  };
}

/** Background commands as the daemon has them. */
function testBackground({ store, dir, clock, log }: Machine): GatewayDeps['background'] {
  const records = createBackgroundRecords(store);
  const outputs = join(dir, 'outputs');
  const commands = createBackgroundCommands({ records, guard: testGuard(), outputs, ids: randomIds, clock, log });
  return { commands, records, watches: testWatches({ store, clock }) };
}

/** Watches as the daemon has them, without a tool for their polls. */
const testWatches = ({ store, clock }: Pick<Machine, 'store' | 'clock'>): GatewayDeps['background']['watches'] => ({
  records: createWatchRecords({ store, nodeId: 'node', clock, ids: randomIds }),
  toolbox: createToolbox([], testGuard()),
  notSandboxed: undefined,
});

/** A machine without instructions and repositories, whose date is that of the clock. */
const plainSurroundings = (clock: Pick<Machine['clock'], 'now'>): Surroundings => ({
  async look() {
    const date = new Date(clock.now()).toISOString().slice(0, 10);
    return { date, zone: 'Europe/Berlin', instructions: { files: [], untrusted: [] } };
  },
});

/** Only the gateway's own page may open sockets. */
export const localOrigins = ({ authEnabled }: { authEnabled: boolean }) =>
  createOriginPolicy({
    ...{ authEnabled, host: '127.0.0.1', port: 0 },
    ...{ allowedHosts: [], allowedOrigins: [], publicUrl: undefined },
  });

/** Replaces the effect of the two tools. */
export type Execute = (tool: string, run: ToolRun) => Promise<ToolOutcome>;

/** Two tools: `look` runs at once and is safe to repeat, `touch` asks first. `over` ends calls that would never end. */
export const lookAndTouch = (execute: Execute | undefined, over: AbortSignal, more: readonly Tool[] = []): Toolbox =>
  createToolbox(
    [
      ...more,
      ...(['look', 'touch'] as const).map(
        (name): Tool<{ text: string }> => ({
          name,
          description: `Says ${name}.`,
          parameters: z.object({ text: z.string().default('') }),
          readOnly: name === 'look',
          safeToRepeat: name === 'look',
          prepare: async ({ text }) => ({
            kind: 'ready',
            subject: text,
            preview: '',
            approvalLabel: name,
            needsApproval: name === 'touch',
            async execute(run) {
              if (execute) return until(execute(name, run), over);
              run.onOutput(`${name}ing\n`);
              return { output: `${name}ed ${text}`.trim(), outcome: 'done' };
            },
          }),
        }),
      ),
    ],
    testGuard(),
  );
