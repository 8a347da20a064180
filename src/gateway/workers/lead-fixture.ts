import assert from 'node:assert/strict';
import type { NodeSummary } from '../../agent/tools/node.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { Approvers } from '../events/approvers.ts';
import type { Store } from '../store/store.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { createLead } from './lead.ts';
import type { HubHandlers } from './links/hub.ts';
import type { Link, LinkHandlers } from './links/link.ts';
import { LINK_PROTOCOL } from './links/protocol-version.ts';
import { WaitingWorkstreams } from './waiting-workstreams.ts';

const notServed = () => assert.fail('it is not asked');

export const BOX: NodeSummary = {
  ...{ nodeId: 'n1', name: 'box', platform: 'linux', commands: ['system.info'] },
  ...{ isConnected: true, pairing: '7' },
};

/** A link from a worker, and what its worker was told and asked. */
export function fakeLink() {
  const ended = new AbortController();
  const sent: unknown[] = [];
  const link: Link = {
    async ask(what, body) {
      sent.push([what, body]);
      return { result: 'far', followed: [], isRecorded: false };
    },
    tell: (what, body) => void sent.push([what, body]),
    take: notServed,
    ended: ended.signal,
    end: (why) => ended.abort(new Error(why)),
  };
  return { link, sent };
}

export const joiningOf = (nodeId: string) => ({
  nodeId,
  serverUrl: `http://${nodeId}`,
  version: '1.2.4',
  protocol: LINK_PROTOCOL,
});

export const loadOf = (total: number) => ({
  workstreams: { total, idle: total, thinking: 0, running: 0, attention: 0, error: 0 },
  maxWorkstreams: 50,
});

const aborted = (signal: AbortSignal) =>
  new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)));

const UNMOVED = {
  here: { give: notServed, take: notServed, obstacles: notServed },
  workstreams: { whileArriving: notServed },
};

const SILENT = {
  broadcast: { onTold: notServed, retell: notServed },
  global: { onTold: notServed, retell: notServed, tellStates: notServed },
};

/** `isBusThere`: false, the bus cannot be reached. */
export function world({ isBusThere = true } = {}) {
  const [clock, log, over] = [fakeClock(1_000), recordingLog(), new AbortController()];
  const steps: unknown[] = [];
  const approvers = new Approvers();
  let greet: HubHandlers['onGreeted'];
  let change: (tables: readonly string[]) => void = notServed;
  const streams: EventStreams = { open: notServed, follow: notServed, states: () => [], onChange: notServed };
  const db = {
    selectFrom() {
      steps.push('look for machines');
      throw new Error('no database');
    },
  };
  const ofMachines = { db } as unknown as Store; // only to look for machines
  const store = { db: { selectFrom: notServed }, openLogs: notServed } as unknown as Store; // no log is read
  const waiting = new WaitingWorkstreams({ store, nodeId: 'lead' });
  const lead = createLead({
    async openHub(handlers) {
      if (!isBusThere) return aborted(over.signal);
      greet = handlers.onGreeted;
      return { open: notServed, isConnected: true, close: async () => void steps.push('close') };
    },
    tellers: { ...SILENT, events: { onTold: notServed, retell: (told) => void steps.push(told), approvers } },
    events: { endings: 0, resync: notServed, end: notServed, leave: notServed },
    streams,
    store,
    shared: { machines: async () => [] },
    loaded: () => 3,
    held: {
      onChanged: (listener) => {
        change = listener;
      },
      reload: (tables) => void steps.push(['reload', tables]),
    },
    nodes: { list: async () => [BOX], invoke: async ({ command }) => `${command} ran` },
    takingOver: {
      store: ofMachines,
      shared: { endWorker: notServed, liveWorkers: async () => new Set<string>() },
      owner: { labels: ['eu'], identify: notServed },
      waiting,
      adopt: notServed,
      takeJobs: notServed,
      log,
    },
    waiting,
    moving: UNMOVED,
    isBalancing: false,
    here: { nodeId: 'lead', labels: ['eu'] },
    version: '1.2.3',
    clock,
    log,
  });
  const greeted = (link: Link): LinkHandlers => greet?.(() => link) ?? notServed();
  const asked = { signal: over.signal, interim: notServed };
  const join = async (nodeId: string, labels: readonly string[] = []) => {
    const { link, sent } = fakeLink();
    const handlers = greeted(link);
    await handlers.answer('join', { ...joiningOf(nodeId), labels }, asked);
    return { link, sent, handlers };
  };
  const told = (tables: readonly string[]) => change(tables);
  return { lead, over, steps, approvers, join, greeted, asked, waiting, change: told };
}
