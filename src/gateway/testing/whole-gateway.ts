import assert from 'node:assert/strict';
import { join } from 'node:path';
import { z } from 'zod';
import type { Scope } from '../../../protocol/contract.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { CONTRACTS, type ParamsInput, type Result } from '../../../protocol/index.ts';
import { isBusy } from '../../../protocol/is-busy.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { createToolbox } from '../../agent/tools/toolbox.ts';
import type { NodesConfig } from '../../command-policy.ts';
import { randomIds } from '../../ids.ts';
import { createLogRing } from '../../log-ring.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { createAttachmentFiles } from '../attachments/attachment-files.ts';
import { createClientAddress } from '../auth/client-address.ts';
import { createAuthenticator } from '../auth/create-authenticator.ts';
import { createLoginCodes } from '../auth/login-codes.ts';
import { createLoginThrottle } from '../auth/login-throttle.ts';
import { createOriginPolicy } from '../auth/origin-policy.ts';
import type { Principal } from '../auth/principal.ts';
import { expandScopes } from '../auth/scopes.ts';
import { TokenTree } from '../auth/token-tree.ts';
import type { ServedMethod, Subscriptions } from '../call.ts';
import type { Caller } from '../dispatch.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { LiveSettings } from '../live-settings.ts';
import { type Nodes, openNodes } from '../nodes/nodes.ts';
import { openSqliteStore, type SqliteStore } from '../store/sqlite-store.ts';
import type { StoredEvent } from '../store/store.ts';
import { fakeWorkdirs } from './fake-workdirs.ts';
import { INBOUND } from './gateway-fixture.ts';
import { puppetModels } from './puppet-model.ts';

export interface CallAs {
  /** Default: everything. */
  scope?: Scope;
  /** Default: ada. */
  id?: string;
  signal?: AbortSignal;
  interim?(payload: unknown): void;
  subscriptions?: Subscriptions;
}

export interface WholeGatewayOptions extends Partial<GatewayDeps> {
  /** What may be asked of nodes; default: nothing is configured. */
  nodeRules?(): NodesConfig;
  /** What the gateway has in place of its store; `store` is the real one. */
  tap?(store: SqliteStore): SqliteStore;
  /** Where its folder is made. */
  parent?: string;
}

const notHere = () => assert.fail('no configuration file');
const NO_CONFIG_FILE = { read: notHere, write: notHere, patch: notHere, schema: notHere };
/** The settings of a gateway that nobody configured. */
const CRON = { enabled: true, switchedOffBy: [], maxConcurrentRuns: 4, retentionDays: 90 };
export const LIVE: LiveSettings = {
  ...{ approvalMs: 3_600_000, alwaysMs: 28_800_000, maxWorkstreams: 50, heartbeatMs: 0 },
  ...{ inbound: INBOUND, cron: CRON },
};

/**
 * The whole gateway over a real store in a temporary folder, with a clock that stands still, a puppet for a model, and
 * two tools: `look` runs at once, `touch` asks first. Every result is checked against its row.
 */
export async function wholeGateway({ tap = (store) => store, parent, ...options }: WholeGatewayOptions = {}) {
  const dir = tempDir(parent);
  const clock = fakeClock(1_000_000);
  const log = recordingLog();
  const puppet = puppetModels();
  const start = async () => {
    const path = join(dir.path, 'headgate.db');
    const store = await openSqliteStore({ path, clock, log, durability: 'normal', bootId: 'boot-1' });
    const machine = { store: tap(store), dir: dir.path, clock, log };
    return startOver(store, { ...standardDeps(machine), models: puppet.models, ...options });
  };
  let running = await start();

  const call = async <M extends ServedMethod>(
    method: M,
    params: ParamsInput<M>,
    as: CallAs = {},
  ): Promise<Result<M>> => {
    const result = await running.gateway.dispatch(method, params, callerOf(as));
    assert.deepEqual(CONTRACTS[method].result.parse(result), result, `${method} answers what its row says`);
    return result as Result<M>; // as its row has just parsed it
  };
  const events = (wsId: string) => eventsOf(running.store, wsId);
  const stop = async () => {
    await running.gateway.shutdown('test');
    await running.store.close();
  };

  return {
    dir: dir.path,
    clock,
    log,
    puppet,
    get gateway(): Gateway {
      return running.gateway;
    },
    get nodes(): Nodes {
      return running.nodes;
    },
    get store(): SqliteStore {
      return running.store;
    },
    call,
    /** How a call that must fail is answered. */
    async refusal(method: ServedMethod, params: unknown, as: CallAs = {}) {
      return refusalOf(await ended(running.gateway.dispatch(method, params, callerOf(as))));
    },
    /** The wsId of the session that is always there. */
    async main(): Promise<string> {
      const { workstreams } = await call('workstream.list', {});
      return workstreams.find(({ sessionKey }) => sessionKey === 'main')?.wsId ?? assert.fail('no main');
    },
    events,
    /** Resolves when the log holds so many events of the type. */
    async reaches(wsId: string, type: StreamEvent['type'], count = 1): Promise<void> {
      await turnsUntil(async () => (await events(wsId)).filter((event) => event.type === type).length >= count, type);
    },
    /** Resolves when nothing runs in it any more. */
    async isIdle(wsId: string): Promise<void> {
      await turnsUntil(async () => {
        const { snapshot } = await call('workstream.get', { wsId });
        return !isBusy(snapshot.workstream.state);
      }, 'idle');
    },
    /** A new process over the same store. */
    async restart(): Promise<void> {
      await stop();
      running = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop().finally(() => dir[Symbol.dispose]());
      assert.equal(log.lines.filter(([, line]) => line === 'a frame does not fit its own schema').length, 0);
    },
  };
}

/** How a call ends: with its answer, or with what refused it. */
const ended = (answer: unknown) => Promise.resolve(answer).catch((error: unknown) => error);

function refusalOf(end: unknown) {
  if (!(end instanceof GatewayError)) return assert.fail(`answered: ${JSON.stringify(end)}`);
  const { code, message, payload } = end;
  return { code, message, ...(payload !== undefined && { payload }) };
}

type Over = Omit<GatewayDeps, 'nodes'> & Pick<WholeGatewayOptions, 'nodes' | 'nodeRules'>;

async function startOver(store: SqliteStore, { nodeRules: rules = () => ({}), ...deps }: Over) {
  const nodes = deps.nodes ?? (await openNodes({ ...deps, rules }));
  const gateway = createGateway({ ...deps, nodes });
  await gateway.recover();
  return { store, gateway, nodes };
}

export type WholeGateway = Awaited<ReturnType<typeof wholeGateway>>;

/** Lets the event loop turn until something is so; in vain at most a thousand times. */
export async function turnsUntil(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    if (await isSo()) return;
    await new Promise(setImmediate);
  }
  assert.fail(`never came: ${what}`);
}

export function callerOf({ scope = 'approve', id = 'ada', signal, interim, subscriptions }: CallAs = {}): Caller {
  const revoked = new AbortController().signal;
  const principal: Principal = { id, scopes: expandScopes([scope]), source: { kind: 'operator' }, revoked };
  return {
    principal,
    signal: signal ?? new AbortController().signal,
    address: '127.0.0.1',
    interim: interim ?? (() => undefined),
    subscriptions,
  };
}

async function eventsOf(store: SqliteStore, wsId: string): Promise<StreamEvent[]> {
  const stored: StoredEvent[] = [];
  for (let page = await store.readEvents(wsId, 0, 10_000); page.length > 0; ) {
    stored.push(...page);
    page = await store.readEvents(wsId, page.at(-1)?.offset ?? 0, 10_000);
  }
  return stored.map(({ json }): StreamEvent => JSON.parse(json));
}

type Machine = Pick<GatewayDeps, 'clock' | 'log'> & { store: SqliteStore; dir: string };

function standardDeps({ store, dir, clock, log }: Machine): Omit<GatewayDeps, 'models' | 'nodes'> {
  const sessions = {
    verify: async () => undefined,
    start: () => assert.fail('no login'),
    revoke: async () => undefined,
    revokeBelow: async () => undefined,
  };
  const tokens = {
    find: () => undefined,
    endOf: () => undefined,
    create: () => assert.fail('no token'),
    list: () => [],
    below: () => [],
    revoke: async () => undefined,
  };
  const authenticator = createAuthenticator({ enabled: false, operatorToken: 'secret', tokens, sessions });
  return {
    store,
    hostTimeZone: 'Europe/Berlin',
    storePath: '/home/ada/.headgate/headgate.db',
    lastAliveMs: store.lastAliveMs,
    startNotices: [],
    checkFramesEvery: 1,
    toolbox: createToolbox([look, touch]),
    notSandboxed: undefined,
    killLeftover: async () => undefined,
    workdirs: fakeWorkdirs,
    readOutput: async () => undefined,
    attachmentFiles: createAttachmentFiles(join(dir, 'attachments')),
    auth: {
      authenticator,
      tokens,
      sessions,
      codes: createLoginCodes({ store, clock, ids: randomIds, lineage: new TokenTree(clock) }),
      throttle: createLoginThrottle({ clock }),
      baseUrl: () => 'http://localhost',
    },
    authenticator,
    logRing: createLogRing('test'),
    webhooks: { destinations: () => new Map(), fetch },
    clientAddress: createClientAddress([]),
    originPolicy: createOriginPolicy({
      authEnabled: false,
      allowedHosts: [],
      allowedOrigins: [],
      publicUrl: undefined,
      host: '127.0.0.1',
      port: 0,
    }),
    server: { version: '1.2.3', host: 'here', nodeId: 'node', platform: 'linux' },
    live: LIVE,
    configFile: NO_CONFIG_FILE,
    clock,
    ids: randomIds,
    log,
  };
}

const toolOf = (name: string, needsApproval: boolean): Tool<{ text: string }> => ({
  name,
  description: `Says ${name}.`,
  parameters: z.object({ text: z.string().default('') }),
  readOnly: !needsApproval,
  safeToRepeat: !needsApproval,
  prepare: async ({ text }) => ({
    kind: 'ready',
    header: `${name}: ${text}`,
    preview: '',
    approvalLabel: name,
    needsApproval,
    async execute({ onOutput }) {
      onOutput(`${name}ing\n`);
      return { output: `${name}ed ${text}`.trim(), outcome: 'done' };
    },
  }),
});

const look = toolOf('look', false);
const touch = toolOf('touch', true);
