import type { GatewayDeps } from '../gateway-deps.ts';
import { backgroundMethods } from '../methods/conversation/background.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { recoverBackground } from './recover-background.ts';

type BackgroundNounDeps = Pick<
  GatewayDeps,
  'store' | 'background' | 'killLeftover' | 'readOutput' | 'lastAliveMs' | 'clock' | 'log'
>;

/** Commands that go on between runs. */
export const createBackgroundNoun = (
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
