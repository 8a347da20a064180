import type { Frame } from '../../protocol/frames.ts';
import type { StreamEvent } from '../../protocol/stream-events.ts';
import type { TestClient } from '../../src/gateway/testing/test-client.ts';

/** An event of a workstream, and when it arrived. */
export interface Heard {
  event: StreamEvent;
  atMs: number;
}

/** One client, and what it was told about workstreams. */
export interface Listener {
  client: TestClient;
  /** What it heard about a workstream so far. */
  heard(wsId: string): readonly Heard[];
  /** Resolves once it has heard a fitting event about a workstream. */
  until(wsId: string, fits: (event: StreamEvent) => boolean): Promise<Heard>;
  /** Forgets everything, so that thousands of rounds fit into memory. */
  forget(): void;
}

/** Listens to a client's subscriptions. */
export function listenTo(client: TestClient): Listener {
  const all = new Map<string, Heard[]>();
  const waiting = new Set<() => void>();
  client.socket.on('message', (data) => {
    const frame: Frame = JSON.parse(data.toString());
    if (frame.type !== 'event' || frame.event !== 'workstream') return;
    const { wsId, event } = frame.payload as { wsId: string; event: StreamEvent };
    const of = all.get(wsId) ?? [];
    of.push({ event, atMs: performance.now() });
    all.set(wsId, of);
    for (const look of [...waiting]) look();
  });
  const heard = (wsId: string) => all.get(wsId) ?? [];
  return {
    client,
    heard,
    until: (wsId, fits) =>
      new Promise((resolve) => {
        const look = () => {
          const found = heard(wsId).find(({ event }) => fits(event));
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    forget() {
      all.clear();
      client.frames.length = 0;
    },
  };
}
