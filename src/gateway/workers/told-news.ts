import { setImmediate as nextTurn } from 'node:timers/promises';
import { GATEWAY_EVENTS } from '../../../protocol/events/gateway.ts';
import type { Broadcast, ToldFrame } from '../connections/broadcast.ts';
import type { EventLog, ToldLog } from '../events/event-log.ts';
import type { GlobalEvents, ToldChange } from '../streams/global-events.ts';

/** What happens in the workstreams of a worker, for the clients of the active daemon. */
export type News = { of: 'log'; told: ToldLog } | { of: 'frame'; told: ToldFrame } | { of: 'change'; told: ToldChange };

/** What tells it at the worker, and tells it again at the active daemon. */
export interface Tellers {
  events: Pick<EventLog, 'onTold' | 'retell' | 'approvers'>;
  broadcast: Pick<Broadcast, 'onTold' | 'retell'>;
  global: Pick<GlobalEvents, 'onTold' | 'retell' | 'tellStates'>;
}

/** Passes on what is told, all of a turn of the event loop together. */
export function collectNews({ events, broadcast, global }: Tellers, pass: (news: readonly News[]) => void): void {
  let news: News[] = [];
  const flush = async (): Promise<void> => {
    await nextTurn();
    const passed = news;
    news = [];
    pass(passed);
  };
  const add = (one: News): void => {
    if (news.push(one) === 1) void flush();
  };
  events.onTold((told) => add({ of: 'log', told }));
  broadcast.onTold((told) => add({ of: 'frame', told }));
  global.onTold((told) => add({ of: 'change', told }));
}

export function retell(news: readonly News[], { events, broadcast, global }: Tellers): void {
  for (const one of news) {
    if (one.of === 'log') events.retell(one.told);
    else if (one.of === 'frame') {
      // Of an event of a newer version, nobody here knows who may hear it.
      if (Object.hasOwn(GATEWAY_EVENTS, one.told.event)) broadcast.retell(one.told);
    } else if (one.of === 'change') global.retell(one.told); // a newer version may tell more
  }
}
