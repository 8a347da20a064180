import type { Clock } from '../../clock.ts';
import { insertMessage } from '../runs/run-rows.ts';
import type { Store } from '../store/store.ts';
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
  find: async (to) => (await workstreams.lookUp(to))?.sessionKey,
  async deliver({ to, message, mediaUrl, from }, { delivered }) {
    const workstream = await workstreams.findByKey(to);
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
