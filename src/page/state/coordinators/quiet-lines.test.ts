import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { fold, lines } from '../conversation/conversation-fixture.ts';
import { NO_CHILDREN, toChildCounts, withChild, withListed } from './children.ts';

const created = (id: string, name = id): StreamEvent => ({
  ...{ type: 'child_ws_created', child_ws_id: id, node_id: 'n', name, parent_ws_id: 'w' },
});
const stateOf = (id: string, state: 'thinking' | 'running' | 'attention' | 'idle'): StreamEvent => ({
  ...{ type: 'child_ws_state', child_ws_id: id, state },
});
const said: StreamEvent = { type: 'info', message: 'x' };

test('a child has one line until something else happens', () => {
  const all = [
    created('a'),
    created('b'),
    stateOf('a', 'thinking'),
    stateOf('a', 'running'),
    stateOf('b', 'attention'),
  ];
  assert.deepEqual(lines(fold(all)), ['quiet: “a”: works', 'quiet: “b”: waits for you']);
  const after = fold([...all, said, stateOf('a', 'idle')]);
  assert.deepEqual(lines(after).slice(2), ['info: x', 'quiet: “a”: idle']);
  assert.deepEqual(
    after.children.all.map(({ wsId, state, isOpen }) => [wsId, state, isOpen]),
    [
      ['a', 'idle', true],
      ['b', 'attention', true],
    ],
  );
});

test('names are data, and a child that is not known yet has the beginning of its id', () => {
  const unknown = stateOf('0123456789abcdef', 'thinking');
  assert.deepEqual(lines(fold([created('a', 'x\u202ey\nz'), unknown])), [
    'quiet: “x\\u202ey\\nz” works for it',
    'quiet: “01234567”: works',
  ]);
});

test('a call that waits for several has one line, which changes', () => {
  const wait = { call_id: 'c1', ws_ids: ['a', 'b'] };
  const progress = { ...wait, elapsed: 5, results: { a: { state: 'idle' as const } }, complete: false };
  const events: StreamEvent[] = [
    { type: 'wait_started', ...wait, mode: 'any', timeout_secs: 600 },
    said,
    { type: 'wait_progress', ...progress },
  ];
  const begun = 'quiet: Waits for 2 workstreams, until one is done, at most 10 min';
  assert.deepEqual(lines(fold(events.slice(0, 1))), [begun]);
  assert.deepEqual(lines(fold(events)), ['quiet: Waits for 2 workstreams: 1 done', 'info: x']);
  const ended: StreamEvent = { ...progress, type: 'wait_ended', elapsed: 12.4, complete: true };
  assert.deepEqual(lines(fold([...events, ended]))[0], 'quiet: Waited 12 s for 2 workstreams: 1 done');
});

test('calls that make or close several say how many', () => {
  const spawn = { call_id: 'c1', op: 'spawn_batch' as const, total: 3 };
  const close = { call_id: 'c2', op: 'close_all_children' as const, total: 1 };
  const begun: StreamEvent[] = [
    { type: 'batch_started', ...spawn },
    { type: 'batch_started', ...close },
  ];
  assert.deepEqual(lines(fold(begun)), ['quiet: Makes 3 workstreams…', 'quiet: Closes 1 workstream…']);
  const ended: StreamEvent[] = [
    { type: 'batch_ended', ...spawn, succeeded: 2, denied: 1 },
    { type: 'batch_ended', ...close, closed: 0, failed: 1, skipped: 0 },
  ];
  assert.deepEqual(lines(fold([...begun, ...ended])), [
    'quiet: Made 2 workstreams; 1 of 3 could not be made',
    'quiet: Closed 0 workstreams; 1 of 1 could not be closed',
  ]);
});

test('a list adds those from before; what events have said stays', () => {
  const shown = withChild(NO_CHILDREN, { type: 'child_ws_state', child_ws_id: 'a', state: 'running' });
  const listed = [
    { wsId: 'old', name: 'old', state: 'idle', isOpen: false },
    { wsId: 'a', name: 'a', state: 'idle', isOpen: true },
  ] as const;
  const merged = withListed(shown, listed);
  assert.deepEqual(merged, {
    all: [listed[0], { wsId: 'a', name: 'a', state: 'running', isOpen: true }],
    isRead: true,
  });
  assert.equal(toChildCounts(merged), '1 works');
});
