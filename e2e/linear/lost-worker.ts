import type { Random } from '../checker/random.ts';
import { until, untilJoined } from '../cluster/crew.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';

/** The id that callers name a machine by. */
export async function nodeIdOf(daemon: DaemonUnderTest): Promise<string> {
  const { node_id: nodeId } = (await daemon.get('/health')).body;
  return nodeId;
}

/** A killed worker is started again, at once or after the active daemon has taken over; afterwards, calls are answered. */
export async function replace(
  worker: DaemonUnderTest,
  { lead, wsIds, random }: { lead: DaemonUnderTest; wsIds: readonly string[]; random: Random },
): Promise<void> {
  const answers = async () => {
    const asked = wsIds.map((wsId) => lead.get(`/v1/api/workstreams/${wsId}/history?limit=1`));
    return (await Promise.all(asked)).every(({ status }) => status === 200);
  };
  const untilAnswered = () => until(answers, () => `the workstreams are there; ${lead.output().stderr}`);
  if (random.chance(0.5)) await untilAnswered();
  await worker.restart();
  await untilJoined(lead, worker);
  await untilAnswered();
}
