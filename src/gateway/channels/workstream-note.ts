import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import { insertMessage } from '../runs/run-rows.ts';
import { ANYONE, mayPerceive, type Viewer } from '../sharing/perception.ts';
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
 * run is in progress there, because nothing may come between a model's calls and their results. If the sender no longer
 * perceives the workstream by then, the note ends like one to a deleted workstream.
 */
export const createWorkstreamChannel = ({ workstreams, store, clock }: WorkstreamNoteDeps): Channel => ({
  name: 'workstream',
  destinations: undefined,
  // The key of a private one may be that of others, too.
  async find(to, viewer) {
    const found = await workstreams.lookUp(to, viewer);
    return found?.visibility === 'private' ? found.wsId : found?.sessionKey;
  },
  async deliver({ to, message, mediaUrl, from }, { delivered, viewer }) {
    const sender = await viewer();
    const workstream = await findAgain(to, sender, workstreams);
    if (!workstream) throw gone();
    const { data } = workstream;
    const note = `Note from ${from}: ${message}${mediaUrl === undefined ? '' : `\n${mediaUrl}`}`;
    const isDone = await workstream.whileIdle('note', async () => {
      if (!mayPerceive(sender, data)) throw gone(); // it became private meanwhile
      const at = { wsId: data.wsId, runId: null, nowMs: clock.now() };
      await store.commit({
        // One unit, so that a daemon killed here does not leave the note twice.
        statements: [...insertMessage(at, { role: 'user', content: note }), delivered()],
        events: { wsId: data.wsId, events: [{ type: 'info', message: note }], inMessages: true },
      });
      data.messageCount += 1;
      workstream.context.forget();
    });
    if (!isDone) throw new NotNow('a run is in progress there', { againInMs: 1_000 });
    return 'recorded';
  },
});

const gone = () => new DeliveryError('the workstream no longer exists', { retryable: false });

/** What `find` found, if the sender still perceives it. A key was that of a shared one, which the sender may have hidden. */
async function findAgain(
  to: string,
  sender: Viewer,
  workstreams: Pick<Workstreams, 'findByKey'>,
): Promise<Workstream | undefined> {
  try {
    const shared = kindOfKey(to) === 'wsId' ? undefined : await workstreams.findByKey(to, ANYONE);
    return shared ?? (await workstreams.findByKey(to, sender));
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'CONFLICT') throw error;
    throw new DeliveryError('several workstreams have this key by now', { retryable: false, cause: error });
  }
}
