import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createConnectedNodes } from './connected-nodes.ts';
import { createNodeReturn } from './return-of-nodes.ts';

function setUp() {
  const clock = fakeClock();
  const connected = createConnectedNodes((nodeId, isConnected) => returning.saw(nodeId, isConnected));
  const returning = createNodeReturn({ connected, clock });
  const link = { send: () => undefined, close: () => undefined, isAlive: async () => true };
  const client = { name: 'box', version: '1', platform: 'linux', mode: 'node' };
  const about = { link, client, caps: [], process: undefined, address: '' };
  const connect = (nodeId: string) => connected.add({ nodeId, ...about });
  /** What has become of the wait. */
  const waiting = (nodeId: string, signal = new AbortController().signal) => {
    const state = { is: 'waiting' };
    returning.of(nodeId, signal).then(
      () => Object.assign(state, { is: 'over' }),
      (error: unknown) => Object.assign(state, { is: String(error) }),
    );
    return state;
  };
  return { clock, connect, waiting };
}

test('after a start, a node has ten seconds to come back, and a call goes on as soon as it is there', async () => {
  const { clock, connect, waiting } = setUp();
  connect('here');
  const [here, other, away] = [waiting('here'), waiting('other'), waiting('away')];
  await clock.advance(LIMITS.nodeLossMs - 1);
  assert.deepEqual([here.is, other.is, away.is], ['over', 'waiting', 'waiting']);
  connect('other');
  await clock.advance(0);
  assert.deepEqual([other.is, away.is], ['over', 'waiting']);
  await clock.advance(1);
  assert.equal(away.is, 'over');
  const later = waiting('away');
  await clock.advance(0);
  assert.equal(later.is, 'over');
});

test('a node that was connected a moment ago has the same time', async () => {
  const { clock, connect, waiting } = setUp();
  const leave = connect('box');
  await clock.advance(60_000);
  leave();
  await clock.advance(LIMITS.nodeLossMs - 1);
  const wait = waiting('box');
  await clock.advance(0);
  assert.equal(wait.is, 'waiting');
  await clock.advance(1);
  assert.equal(wait.is, 'over');
});

test('a wait for a node ends with its signal', async () => {
  const { clock, waiting } = setUp();
  const stopping = new AbortController();
  const wait = waiting('away', stopping.signal);
  await clock.advance(1);
  stopping.abort('stopped');
  await clock.advance(0);
  assert.equal(wait.is, 'stopped');
});
