import type { Channels } from '../channels/channels.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Runs } from '../runs/runs.ts';
import type { Store } from '../store/store.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import type { PollRulingDeps } from './poll-ruling.ts';
import { WatchDeliveries } from './watch-deliveries.ts';
import { watchMethods } from './watch-methods.ts';
import { WatchPolls } from './watch-polls.ts';
import { endPoll, followNode, readOpen } from './watch-rows.ts';

export type WatchNounDeps = Pick<
  GatewayDeps,
  'store' | 'background' | 'workdirs' | 'auth' | 'killLeftover' | 'server' | 'clock' | 'log'
>;

export interface WatchParts extends Pick<PollRulingDeps, 'messages' | 'rules' | 'always' | 'judge' | 'coordinators'> {
  workstreams: Pick<Workstreams, 'get' | 'isStored'>;
  runs: Pick<Runs, 'accept'>;
  channels: Pick<Channels, 'byName'>;
}

/** Commands that are polled until something happens. */
export function createWatchNoun(
  deps: WatchNounDeps,
  { messages, rules, always, judge, coordinators, workstreams, runs, channels }: WatchParts,
) {
  const { store, background, workdirs, auth, server, clock, log } = deps;
  const { authenticator } = auth;
  const { records, toolbox, notSandboxed } = background.watches;
  const deliveries = new WatchDeliveries({ store, workstreams, runs, channels, authenticator, clock, log });
  const polls = new WatchPolls({
    store,
    records,
    workstreams,
    messages,
    toolbox,
    workdirs,
    rules,
    always,
    judge,
    coordinators,
    channels,
    authenticator,
    notSandboxed,
    clock,
    log,
    onResult: (wsId) => deliveries.wake(wsId),
  });
  records.listen({
    onChange: () => polls.wake(),
    stopPoll: (watchId) => polls.stop(watchId),
    onArrived(wsIds) {
      polls.wake();
      for (const wsId of wsIds) deliveries.wake(wsId);
    },
  });
  return {
    methods: watchMethods({ store, records, workstreams, nodeId: server.nodeId }),
    recover: () => recoverWatches(deps),
    async run(signal: AbortSignal) {
      for (const { row, result } of await readOpen(store)) if (result) deliveries.wake(row.ws_id);
      await polls.run(signal);
    },
    async close() {
      deliveries.close();
      await polls.close();
    },
  };
}

/** Ends the polls that ran when the previous daemon of the store's machine died. They count; what they found is unknown. */
export async function recoverWatches({
  store,
  killLeftover,
  server,
  log,
}: Pick<WatchNounDeps, 'killLeftover' | 'server' | 'log'> & { store: Store }): Promise<void> {
  for (const { row, process } of await readOpen(store)) {
    if (row.is_polling === 0) continue;
    log.info({ watchId: row.watch_id, wsId: row.ws_id }, 'the poll of a watch that the last daemon left is ended');
    await (process && killLeftover(process))?.catch((err: unknown) => {
      log.warn({ err, watchId: row.watch_id }, 'a process of the last daemon could not be stopped');
    });
    await store.commit({ statements: [endPoll(row, {}, false)] });
  }
  await store.commit({ statements: [followNode(store, server.nodeId)] });
}
