import { DAEMON } from '../../sharing/perception.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import { principalIdOf } from './acting-sender.ts';

/** Cancels the messages of a person that wait, and the run in progress: its answer is not for this person any more. */
export async function dropMessagesOf(
  { channel, senderId }: { channel: string; senderId: string },
  workstreams: Pick<Workstreams, 'list'>,
): Promise<void> {
  const principal = principalIdOf(channel, senderId);
  for (const workstream of workstreams.list(DAEMON)) {
    const { current, queue } = workstream;
    const open = [...queue.all(), ...(current ? [current] : [])].filter(({ run }) => run.principal === principal);
    for (const { run } of open) await workstream.cancelRun(run.runId);
  }
}
