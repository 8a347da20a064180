import type { Conversations } from '../conversations.ts';
import { coordinatorMethods } from '../coordinators/coordinator-methods.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { backgroundMethods } from '../methods/conversation/background.ts';
import { createWatchNoun, type WatchNounDeps } from '../watches/watch-noun.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { recoverBackground } from './recover-background.ts';

type BackgroundNounDeps = WatchNounDeps & Pick<GatewayDeps, 'readOutput' | 'lastAliveMs'>;

/** What goes on between runs. It recovers before the workstreams, whose runs tell of commands that have ended. */
export const backgroundNouns = (deps: BackgroundNounDeps, { records, talks, turns }: Conversations) => ({
  background: createBackgroundNoun(deps, talks.workstreams),
  watch: createWatchNoun(deps, {
    messages: records.messages,
    rules: records.rules,
    always: records.always,
    judge: records.judge,
    coordinators: records.coordinators,
    workstreams: talks.workstreams,
    runs: turns.runs,
    channels: talks.outbox.channels,
  }),
  coordinator: { methods: coordinatorMethods({ coordinators: records.coordinators, store: deps.store }) },
});

/** Commands that go on between runs. */
const createBackgroundNoun = (
  { store, background, killLeftover, readOutput, lastAliveMs, clock, log }: BackgroundNounDeps,
  workstreams: Pick<Workstreams, 'get'>,
) => {
  const { commands, records } = background;
  return {
    methods: backgroundMethods({ workstreams, background: commands, records, readOutput }),
    recover: () => recoverBackground({ store, records, killLeftover, readOutput, lastAliveMs, clock, log }),
    close: () => commands.close(),
  };
};
