import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import { insertMessage } from '../runs/run-rows.ts';
import { ANYONE, DAEMON } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { kindOfKey } from '../workstreams/session-keys.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { type Channel, DeliveryError, NotNow } from './channel.ts';

interface WorkstreamNoteDeps {
  workstreams: Pick<Workstreams, 'lookUp' | 'findByKey'>;
  store: Pick<Store, 'commit'>;
  clock: Pick<Clock, 'now'>;
}

/**
 * Leaves a note in another workstream. People see it at once; the model reads it with its next turn. It waits while a
 * run is in progress there, because nothing may come between a model's calls and their results.
 */
export const createWorkstreamChannel = ({ workstreams, store, clock }: WorkstreamNoteDeps): Channel => ({
  name: 'workstream',
  destinations: undefined,
  // The key of a private one may be that of others, too.
  async find(to, viewer) {
    const found = await workstreams.lookUp(to, viewer);
    return found?.visibility === 'private' ? found.wsId : found?.sessionKey;
  },
  async deliver({ to, message, mediaUrl, from }, { delivered }) {
    const workstream = await findAgain(to, workstreams);
    if (!workstream) throw new DeliveryError('the workstream no longer exists', { retryable: false });
    const { data } = workstream;
    const note = `Note from ${from}: ${message}${mediaUrl === undefined ? '' : `\n${mediaUrl}`}`;
    const isDone = await workstream.whileIdle('note', async () => {
      const at = { wsId: data.wsId, runId: null, nowMs: clock.now() };
      await store.commit({
        // One unit, so that a daemon killed here does not leave the note twice.
        statements: [...insertMessage(at, { role: 'user', content: note }), delivered()],
        events: { wsId: data.wsId, events: [{ type: 'info', message: note }], inMessages: true },
      });
      data.messageCount += 1;
      workstream.forgetContext();
    });
    if (!isDone) throw new NotNow('a run is in progress there', { againInMs: 1_000 });
    return 'recorded';
  },
});

/** What `find` found. The sender perceived it then. */
async function findAgain(to: string, workstreams: Pick<Workstreams, 'findByKey'>): Promise<Workstream | undefined> {
  try {
    return await workstreams.findByKey(to, kindOfKey(to) === 'wsId' ? DAEMON : ANYONE);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'CONFLICT') throw error;
    throw new DeliveryError('several workstreams have this key by now', { retryable: false, cause: error });
  }
}
