import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import type { WorkstreamState } from '../../../../protocol/stream-events.ts';
import { snapshot } from '../conversation/conversation-fixture.ts';
import type { Tab } from '../tab.ts';
import { arrangeTabs, USUALLY_SHOWN } from './arranged-tabs.ts';

function tab(wsId: string, parentWsId?: string, state: WorkstreamState = 'idle'): Tab {
  const row = { ...snapshot().workstream, wsId, state, ...(parentWsId !== undefined && { parentWsId }) };
  const common = {
    unread: signal(false),
    queue: signal([]),
    draft: signal(''),
    chips: signal([]),
    goal: signal(undefined),
    search: signal(undefined),
    isReadBack: signal(false),
    aside: signal(undefined),
    sending: signal([]),
  };
  const nothing = () => undefined;
  return {
    ...common,
    ...{ wsId, row: signal(row), conversation: signal(undefined), problem: signal(undefined) },
    ...{ catchUp: nothing, hurry: nothing, follow: nothing, close: nothing },
  };
}

const shown = (tabs: readonly Tab[], folds: [string, boolean][] = [], front?: string) =>
  arrangeTabs(tabs, { folds: new Map(folds), front }).map(({ tab: { wsId }, depth }) => `${' '.repeat(depth)}${wsId}`);

test('workstreams stand below their coordinator, and others keep their places', () => {
  const tabs = [tab('c'), tab('x'), tab('a', 'c'), tab('a1', 'a'), tab('b', 'c'), tab('orphan', 'closed')];
  assert.deepEqual(shown(tabs), ['c', ' a', '  a1', ' b', 'x', 'orphan']);
});

test('many are folded until a person opens them, except for what is in front or asks', () => {
  const many = Array.from({ length: 200 }, (_, index) => tab(`w${index}`, 'c', index === 150 ? 'attention' : 'idle'));
  const tabs = [tab('c'), ...many];
  assert.deepEqual(shown(tabs, [], 'w7'), ['c', ' w7', ' w150']);
  assert.equal(shown(tabs, [['c', false]]).length, 201);
  const few = [tab('c'), ...many.slice(0, USUALLY_SHOWN)];
  assert.equal(shown(few).length, USUALLY_SHOWN + 1);
  assert.deepEqual(shown(few, [['c', true]]), ['c']);
  assert.deepEqual(
    arrangeTabs(tabs, { folds: new Map(), front: undefined }).map(({ below, isFolded }) => [below, isFolded])[0],
    [200, true],
  );
});

test('what is below a coordinator that is folded away is reached, too', () => {
  const tabs = [tab('c'), tab('d', 'c'), tab('d1', 'd', 'attention')];
  assert.deepEqual(shown(tabs, [['c', true]]), ['c', '  d1']);
});

test('a workstream that names itself, or a circle, hides nobody else', () => {
  assert.deepEqual(shown([tab('x', 'x'), tab('y')]), ['x', 'y']);
});
