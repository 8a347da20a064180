import { systemTimers } from '../../../protocol/client/timers.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { untilAnswered } from '../until-answered.ts';
import type { FollowedRun } from './follow-run.ts';

export type StopCause = 'timeout' | 'interrupted';

interface StoppingDeps {
  client: Pick<GatewayClient, 'call'>;
  wsId: string;
  /** Ends the process at once. */
  leave(): void;
}

/** Stops the run at its timeout or on Ctrl-C. A second Ctrl-C ends only this process. */
export function createStopping({ client, wsId, leave }: StoppingDeps) {
  let reason: StopCause | undefined;
  let runId: string | undefined;
  const abort = () => {
    const which = { sessionKey: wsId, runId };
    untilAnswered(() => client.call('chat.abort', which)).catch(() => undefined); // the end of the run shows the outcome
  };
  const stop = (why: StopCause) => {
    if (reason !== undefined && why === 'interrupted') leave();
    reason ??= why;
    if (runId !== undefined) abort();
  };
  const interrupt = () => stop('interrupted');
  return {
    reason: () => reason,
    interrupt,
    /** From here on, Ctrl-C stops the run, not the process. Pressed before the run is known, it stops the run once it is. */
    listen(): Disposable {
      process.on('SIGINT', interrupt);
      return { [Symbol.dispose]: () => void process.off('SIGINT', interrupt) };
    },
    watch(followed: FollowedRun, timeoutMs: number | undefined): Disposable {
      ({ runId } = followed);
      if (reason !== undefined) abort();
      const cancel = timeoutMs === undefined ? undefined : systemTimers.after(timeoutMs, () => stop('timeout'));
      return { [Symbol.dispose]: () => cancel?.() };
    },
  };
}
