import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubscriptionOptions } from '../../../../protocol/client/subscriptions.ts';
import type { WorkstreamState } from '../../../../protocol/stream-events.ts';
import { createTabs } from './chat-tabs.ts';

function open() {
  const followed = new Map<string, SubscriptionOptions>();
  const closed: string[] = [];
  const tabs = createTabs({
    client: {
      subscribe(wsId, options) {
        followed.set(wsId, options);
        return { cursor: undefined, hurry: () => undefined, close: () => void followed.delete(wsId) };
      },
    },
    start: (wsId, draft) => ({
      talk: { settings: { name: `name of ${wsId}` }, transcript: { state: 'idle' as WorkstreamState } },
      draft: `${draft}${wsId}`,
      close: () => void closed.push(wsId),
    }),
    onChange: () => undefined,
  });
  return { tabs, followed, closed };
}

test('a tab that is not shown is followed until it is shown again, with its draft', () => {
  const { tabs, followed, closed } = open();
  tabs.open('a');
  tabs.open('b');
  tabs.open('b');
  followed.get('a')?.onEvent({ type: 'ws_state', ws_id: 'a', state: 'attention' }, '');
  assert.deepEqual(tabs.rows, [
    { name: 'name of a', state: 'attention', isCurrent: false },
    { name: 'name of b', state: 'idle', isCurrent: true },
  ]);
  assert.equal(tabs.choose(1), true);
  assert.deepEqual([closed, [...followed.keys()], tabs.current?.draft], [['a', 'b'], ['b'], 'aa']);
});

test('closing a tab shows its neighbour; the last one stays', () => {
  const { tabs, followed, closed } = open();
  tabs.open('a');
  tabs.open('b');
  assert.deepEqual([tabs.close(), tabs.close()], [true, false]);
  assert.deepEqual([closed, [...followed.keys()]], [['a', 'b'], []]);
  assert.deepEqual(
    tabs.rows.map(({ name }) => name),
    ['name of a'],
  );
  assert.equal(tabs.choose(2), false);
});
