import type { Result } from '../../protocol/index.ts';
import type { Random } from '../checker/random.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import { act, denyAll, hear, type Keyed, readAll, type Shared } from './actor.ts';
import { openHttpWire, openSocketWire, type Wire } from './wires.ts';

const SOCKETS = 3;
const HTTP_CLIENTS = 2;
/**
 * A workstream at rest has no more to decide; each run asks at most twice. While this process looks for an order of the calls, its
 * model does not answer, and the daemon then asks it again after a minute.
 */
const MOST_REST_MS = 120_000;

/** One workstream with its clients. */
export interface Cast {
  shared: Shared;
  /** Until the signal aborts or the daemon dies. */
  act(random: Random, signal: AbortSignal): Promise<void>;
  /** Ends all runs, and reads everything with every client. */
  settle(): Promise<void>;
}

/** `nodeId`: the machine that has the workstream; default: the daemon chooses. */
export async function openCast(daemon: DaemonUnderTest, name: string, nodeId?: string): Promise<Cast> {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { name, ...(nodeId !== undefined && { nodeId }) });
  const { cursor } = await client.call('workstream.get', { wsId });
  client.close();
  let last = 0;
  const shared: Shared = { wsId, calls: [], approvals: new Set(), next: () => `${name}-${++last}` };
  const names = [
    ...Array.from({ length: SOCKETS }, (_, index) => `socket ${index}`),
    ...Array.from({ length: HTTP_CLIENTS }, (_, index) => `http ${index}`),
  ];
  const keyed = new Map(names.map((client): [string, Keyed[]] => [client, []]));
  /** Sockets read the log from its beginning each time: what was said once has to be said again. */
  const open = async (client: string): Promise<Wire | undefined> => {
    if (client.startsWith('http')) return openHttpWire(daemon);
    const fromMs = performance.now();
    const wire = await openSocketWire(daemon, {
      reader: client,
      onEvent: ({ event, payload }) => {
        if (event === 'workstream') hear({ client, shared }, Object(payload).event, fromMs);
      },
    });
    await wire?.ask('events.subscribe', { wsId, after: cursor });
    return wire;
  };
  return {
    shared,
    async act(random, signal) {
      await Promise.all(
        names.map(async (client) => {
          const wire = await open(client);
          if (!wire) return;
          await act({ client, shared, wire, random: random.fork(client) }, keyed.get(client) ?? [], signal);
          wire.close();
        }),
      );
    },
    async settle() {
      const wires = await Promise.all(names.map(open));
      const clients = names.flatMap((client, index) => {
        const wire = wires[index];
        return wire ? [{ client, shared, wire }] : [];
      });
      const [first] = clients;
      if (!first) throw new Error('the daemon is gone');
      await untilAtRest(first);
      // Over HTTP only the conversation.
      await Promise.all(clients.filter(({ wire }) => !wire.isHttp).map(readAll));
      for (const { wire } of clients) wire.close();
    },
  };
}

async function untilAtRest(reading: { client: string; shared: Shared; wire: Wire }): Promise<void> {
  const { wire, shared } = reading;
  let state = '';
  const latestMs = performance.now() + MOST_REST_MS;
  while (performance.now() < latestMs) {
    await denyAll(reading);
    const waiting = await wire.ask('queue.list', { wsId: shared.wsId });
    const found = await wire.ask('workstream.get', { wsId: shared.wsId });
    if (waiting.kind !== 'ok' || found.kind !== 'ok') throw new Error(`${waiting.kind} and ${found.kind} at the end`);
    // By their contracts.
    const { messages } = waiting.payload as Result<'queue.list'>;
    const { snapshot } = found.payload as Result<'workstream.get'>;
    state = `${snapshot.workstream.state}, ${messages.length} waiting`;
    if (state === 'idle, 0 waiting' || state === 'error, 0 waiting') return; // its last run failed without the database
    await pause(10);
  }
  throw new Error(`${shared.wsId} did not come to rest: ${state}`);
}
