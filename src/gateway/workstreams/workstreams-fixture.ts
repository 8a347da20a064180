import { join } from 'node:path';
import { z } from 'zod';
import { GatewayError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { ProcessIdentity, Tool, ToolOutcome, ToolRun } from '../../agent/tools/tool.ts';
import { createToolbox } from '../../agent/tools/toolbox.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { EventLog } from '../events/event-log.ts';
import { createMessages } from '../history/history.ts';
import { createNotes } from '../history/notes.ts';
import { createSnapshots } from '../history/snapshot.ts';
import type { Rights } from '../rights.ts';
import { Approvals } from '../runs/approvals.ts';
import { recoverRuns, restoreState } from '../runs/recovery.ts';
import { Runs } from '../runs/runs.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import type { Store, Unit } from '../store/store.ts';
import { fakeWorkdirs } from '../testing/fake-workdirs.ts';
import { puppetModels } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { createSystemEvents } from '../wake/system-events.ts';
import { AlwaysRules } from './always.ts';
import { Commands } from './commands.ts';
import { MAIN } from './session-keys.ts';
import { Settings } from './settings.ts';
import type { Workstream } from './workstream.ts';
import { Workstreams } from './workstreams.ts';

export interface WorkstreamsOptions {
  maxLoaded?: number;
  /** When the credential behind a principal ends; default: never. */
  endOf?(principalId: string): AbortSignal | undefined;
  /** What the tools `look` (runs at once, safe to repeat) and `touch` (asks first) do. */
  execute?(tool: string, run: ToolRun): Promise<ToolOutcome>;
}

/** What stands between the workstreams and the store. */
interface Tap {
  /** Units of this kind cannot be written to the disk. */
  fails?: ((unit: Unit) => boolean) | undefined;
  /** The process has died: nothing it still says arrives anywhere. */
  dead: boolean;
}

/** Workstreams over a real store in a temporary folder, whose process can die at any moment. */
async function workstreamsFixture(options: WorkstreamsOptions = {}) {
  const dir = tempDir();
  const clock = fakeClock(1_000_000);
  const log = recordingLog();
  const puppet = puppetModels();
  const seen: string[] = [];
  const killed: ProcessIdentity[] = [];
  const boot = () => bootOver({ path: join(dir.path, 'headgate.db'), clock, log, puppet, seen, killed, options });
  let process = await boot();
  const main = (): Workstream => mainOf(process.workstreams);
  const eventsOf = async (wsId: string): Promise<StreamEvent[]> =>
    (await process.store.readEvents(wsId, 0, 10_000)).map(({ json }) => JSON.parse(json));
  return {
    clock,
    log,
    puppet,
    /** What the observer heard. */
    seen,
    /** Leftover processes that were killed at the start. */
    killed,
    get parts() {
      return process;
    },
    main,
    eventsOf,
    /** Accepts a message for `main`, or for another workstream. */
    send: (message: string, more: { to?: Workstream; ifIdle?: boolean; key?: string; rights?: Rights } = {}) => {
      const { to = main(), ifIdle = false, key, rights = 'approve' } = more;
      const accepted = {
        message,
        principal: 'ada',
        rights,
        source: 'person' as const,
        ...(key !== undefined && { key }),
      };
      return ifIdle ? process.runs.acceptIfIdle(to, accepted) : process.runs.accept(to, accepted);
    },
    /** Resolves when the log of `main` holds so many events of the type. */
    reaches: (type: StreamEvent['type'], count = 1) =>
      turnsUntil(async () => {
        const events = await eventsOf(main().data.wsId);
        return events.filter((event) => event.type === type).length >= count;
      }, type),
    /** The process dies and a new one starts `downMs` later. */
    async crash({ downMs = 0, lastAliveMs }: { downMs?: number; lastAliveMs?: number } = {}): Promise<void> {
      process.tap.dead = true;
      await process.store.close();
      clock.jump(downMs);
      process = await boot();
      await process.start(lastAliveMs);
    },
    async start() {
      await process.start(undefined);
    },
    async [Symbol.asyncDispose]() {
      process.tap.dead = true;
      await process.store.close();
      dir[Symbol.dispose]();
    },
  };
}

/** As `workstreamsFixture`, started. */
export async function startedWorkstreams(options: WorkstreamsOptions = {}) {
  const fixture = await workstreamsFixture(options);
  await fixture.start();
  return fixture;
}

export const never = (): Promise<unknown> => new Promise(() => undefined);

export const shapes = (events: StreamEvent[]): string[] =>
  events.map((event) => (event.type === 'ws_state' ? `ws_state ${event.state}` : event.type));

function mainOf(workstreams: Workstreams): Workstream {
  const main = workstreams.list().find(({ data }) => data.sessionKey === MAIN);
  if (!main) throw new Error('no main');
  return main;
}

interface Machine {
  path: string;
  clock: ReturnType<typeof fakeClock>;
  log: ReturnType<typeof recordingLog>;
  puppet: ReturnType<typeof puppetModels>;
  seen: string[];
  killed: ProcessIdentity[];
  options: WorkstreamsOptions;
}

async function bootOver({ path, clock, log, puppet, seen, killed, options }: Machine) {
  const opened = await openSqliteStore({ path, clock, log, durability: 'normal', bootId: 'boot-1' });
  const tap: Tap = { dead: false };
  const store = { ...opened, commit: (unit: Unit) => commitThrough(tap, opened, unit) };
  const stopping = new AbortController();
  const messages = createMessages(store);
  const notes = createNotes(store);
  const events = new EventLog({ store, log });
  const { models } = puppet;
  const always = new AlwaysRules({
    live: { alwaysMs: 28_800_000 },
    authenticator: { endOf: options.endOf ?? (() => undefined) },
    clock,
  });
  const workstreams = new Workstreams({
    store,
    always,
    events,
    models,
    toolbox: createToolbox([toolOf('look', options), toolOf('touch', options)]),
    notSandboxed: undefined,
    live: { approvalMs: 3_600_000, maxWorkstreams: options.maxLoaded ?? 50 },
    observer: observerInto(seen),
    loadContext: (data) => messages.context(data),
    readAttachment: async () => undefined,
    stopping: stopping.signal,
    workdirs: fakeWorkdirs,
    onLoaded: ({ name }) => void seen.push(`loaded ${name}`),
    onUnloaded: ({ name }) => void seen.push(`unloaded ${name}`),
    onRemoved: async () => undefined,
    onEvicted: () => void seen.push('evicted'),
    clock,
    ids: randomIds,
    log,
  });
  const settings = new Settings({ store, workstreams, models, always, clock });
  const systemEvents = createSystemEvents({ store, clock });
  const runs = new Runs({ store, ids: randomIds, queued: systemEvents });
  return {
    store,
    tap,
    stopping,
    messages,
    notes,
    events,
    workstreams,
    always,
    runs,
    systemEvents,
    settings,
    snapshots: createSnapshots({ messages, notes, events }),
    approvals: new Approvals({ workstreams, store }),
    commands: new Commands({ store, messages, settings, models, clock, ids: randomIds, log }),
    async start(lastAliveMs: number | undefined) {
      const killLeftover = async (process: ProcessIdentity) => void killed.push(process);
      await systemEvents.load();
      const recovered = await recoverRuns({ store, nowMs: clock.now(), lastAliveMs, killLeftover, log });
      await workstreams.load(recovered, (data, run) => restoreState(data, run, store));
      for (const handle of await workstreams.adopt(recovered)) runs.track(handle);
    },
  };
}

function commitThrough(tap: Tap, store: Store, unit: Unit): Promise<number> {
  if (tap.dead) return new Promise(() => undefined);
  if (!tap.fails?.(unit)) return store.commit(unit);
  const failure = new GatewayError('UNAVAILABLE', 'Cannot write to the disk');
  return new Promise((_resolve, reject) => setImmediate(reject, failure)); // at the end of the turn, as a real one
}

const observerInto = (seen: string[]) => ({
  onRunning: (_data: unknown, { request }: { request: { message: string } }) =>
    void seen.push(`running ${request.message}`),
  onEnded: (_data: unknown, { request }: { request: { message: string } }, { status }: { status: string }) =>
    void seen.push(`ended ${request.message}: ${status}`),
  onDropped: (_data: unknown, { request }: { request: { message: string } }) =>
    void seen.push(`dropped ${request.message}`),
  onApprovalRequested: () => void seen.push('asked'),
  onApprovalResolved: ({ approved }: { approved: boolean }) => void seen.push(approved ? 'approved' : 'denied'),
  onUsage: () => undefined,
  onToolStarted: (tool: string) => void seen.push(`started ${tool}`),
  onMessage: () => undefined,
});

const toolOf = (name: 'look' | 'touch', { execute }: WorkstreamsOptions): Tool<Record<string, unknown>> => ({
  name,
  description: `Says ${name}.`,
  parameters: z.record(z.string(), z.unknown()),
  readOnly: name === 'look',
  safeToRepeat: name === 'look',
  prepare: async () => ({
    kind: 'ready',
    header: name,
    preview: '',
    approvalLabel: name,
    needsApproval: name === 'touch',
    execute: async (run) => execute?.(name, run) ?? { output: `${name} done`, outcome: 'done' },
  }),
});
