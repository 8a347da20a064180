import { DAEMON } from '../sharing/perception.ts';
import { type WholeGateway, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';
import type { StreamRequest } from './event-streams.ts';

/** How long a stream waits for a newer run. */
export const HOLD_MS = 300;

/** A gateway with its main conversation, whose streams open as those of the HTTP interface do. */
export async function streamingGateway(options: WholeGatewayOptions = {}) {
  const gateway = await wholeGateway(options);
  const wsId = await gateway.main();
  return {
    gateway,
    wsId,
    send: (message = 'hello') => gateway.call('workstream.send', { wsId, message }),
    /** A run that has just ended without readers. */
    async unread(message = 'hello') {
      const { runId } = await gateway.call('workstream.send', { wsId, message });
      await gateway.isIdle(wsId);
      return runId;
    },
    open: (request = {}) => openStream(gateway, wsId, request),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** A stream as in the HTTP interface: its beginning, then the log. */
export async function openStream(gateway: WholeGateway, wsId: string, request: Partial<StreamRequest>) {
  const { streams } = gateway.gateway;
  const leave = new AbortController();
  const { begin } = await streams.open(wsId, { viewer: DAEMON, resume: false, snapshot: false, ...request });
  const told: { type: string; offset: number | undefined; json: string }[] = [];
  const tell = (json: string, offset: number | undefined) => told.push({ type: JSON.parse(json).type, offset, json });
  let hasBegun = false;
  const begun = begin(leave.signal).then(({ frames, after }) => {
    hasBegun = true;
    if (leave.signal.aborted) return undefined;
    for (const { id, json } of frames) tell(json, id === undefined ? undefined : Number(id.split(':')[1]));
    const sink = {
      ready: () => true,
      write(entries: readonly { json: string; offset: number }[]) {
        for (const { json, offset } of entries) tell(json, offset);
      },
    };
    return streams.follow(wsId, after, { viewer: DAEMON, sink, onEnd: () => undefined });
  });
  return {
    told,
    begun,
    hasBegun: () => hasBegun,
    types: () => told.map(({ type }) => type),
    history: () => JSON.parse(told[0]?.json ?? '{}').messages.map(({ content }: { content: string }) => content),
    /** The runs whose ends it has sent. */
    ends: () => told.flatMap(({ json }) => JSON.parse(json).run?.run_id ?? []),
    async leave() {
      leave.abort();
      (await begun)?.close();
    },
  };
}

/** Waits until everything is done that does not depend on the clock. */
export const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
};
