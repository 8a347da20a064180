import type { Progress } from '../../agent/run/journal.ts';
import type { SteeredMessage } from '../../agent/run/recorder.ts';
import type { Steering } from '../../agent/run/steering.ts';
import { messageOf, senderOf } from '../runs/first-step.ts';
import type { LiveRun } from '../runs/live-run.ts';
import type { QueuedRun, RunQueue } from '../runs/run-queue.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { WorkstreamObserver } from '../workstreams/workstream-deps.ts';

interface SteeringDeps {
  live: LiveRun;
  data: WorkstreamData;
  queue: RunQueue;
  observer: Pick<WorkstreamObserver, 'onSteered' | 'onMessage'>;
}

/** Gives waiting messages to a run between the results of its calls and the next request to the model (decision 54). */
export const createSteering = ({ live, data, queue, observer }: SteeringDeps): Steering => ({
  async handOver(record) {
    const items = mayTake(live.progress)
      ? queue.all().filter(({ run, isStored }) => isStored && run.request.steer)
      : [];
    for (const item of items) queue.leave(item); // first, so that none of them is changed or started meanwhile
    try {
      await record(items.map(toSteered));
    } catch (error) {
      for (const item of items) queue.putBack(item);
      throw error;
    }
    queue.left(...items);
    for (const item of items) {
      observer.onMessage();
      follow(item, live);
      observer.onSteered(data, item.run, { into: live.run.runId, ended: item.ended.promise });
    }
  },
});

/**
 * Not before the first answer: until then, a failure marks the message of the run. Nor before the last one, which only
 * finishes the work.
 */
const mayTake = ({ phase, turns, wrapUp }: Progress): boolean => turns > (phase === 'batch' ? 0 : 1) && !wrapUp;

const toSteered = ({ run }: QueuedRun): SteeredMessage => ({
  runId: run.runId,
  source: run.source,
  from: senderOf(run),
  message: { ...messageOf(run.request), steered: true },
});

/** Whoever waits for the message's own run gets the end of the run that took it. */
function follow({ run, ended }: QueuedRun, live: LiveRun): void {
  run.request = { ...run.request, steeredInto: live.run.runId };
  if (run.request.rights !== 'approve' && live.run.request.rights === 'approve') {
    live.run.request = { ...live.run.request, rights: 'write' };
  }
  void live.ended.then((result) => ended.resolve({ ...result, run_id: run.runId }));
}
