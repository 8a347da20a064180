import assert from 'node:assert/strict';
import type { ParamsInput } from '../../protocol/index.ts';
import type { CheckedClient } from '../support/clients/checked-client.ts';

interface EventCallDeps {
  open(): Promise<CheckedClient>;
  newSession(): Promise<string>;
  call(method: 'workstream.send', params: ParamsInput<'workstream.send'>): Promise<unknown>;
}

/** A case for each method about one connection and the workstreams that it follows or shows. */
export const eventCalls = ({ open, newSession, call }: EventCallDeps) => ({
  async 'events.subscribe'() {
    const [follower, wsId] = [await open(), await newSession()];
    await follower.ask('events.subscribe', { wsId });
    await call('workstream.send', { wsId, message: 'hi' });
    await follower.event('workstream');
  },
  async 'events.unsubscribe'() {
    const [follower, wsId] = [await open(), await newSession()];
    await follower.ask('events.subscribe', { wsId });
    assert.deepEqual(await follower.ask('events.unsubscribe', { wsId }), { ok: true, removed: true });
  },
  async 'events.view'() {
    const [viewer, wsId] = [await open(), await newSession()];
    assert.deepEqual(await viewer.ask('events.view', { wsId }), { userIds: [''] });
    await viewer.event('workstream.viewers');
  },
});
