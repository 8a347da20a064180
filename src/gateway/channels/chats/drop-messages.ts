import { DAEMON } from '../../sharing/perception.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import { principalIdOf } from './acting-sender.ts';

/** Cancels the messages of a person that wait; the run in progress goes on. */
export async function dropMessagesOf(
  { channel, senderId }: { channel: string; senderId: string },
  workstreams: Pick<Workstreams, 'list'>,
): Promise<void> {
  const principal = principalIdOf(channel, senderId);
  for (const workstream of workstreams.list(DAEMON)) {
    const waiting = workstream.queue.all().filter(({ run }) => run.principal === principal);
    for (const { run } of waiting) await workstream.cancelRun(run.runId);
  }
}
