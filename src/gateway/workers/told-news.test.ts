import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Approvers } from '../events/approvers.ts';
import { collectNews, type News, retell, type Tellers } from './told-news.ts';

type Listener<K extends keyof Tellers> = Parameters<Tellers[K]['onTold']>[0];

/** Tellers that tell when the test does, and note what they tell again. */
function tellers() {
  const retold: unknown[] = [];
  const listeners: { events?: Listener<'events'>; broadcast?: Listener<'broadcast'>; global?: Listener<'global'> } = {};
  const all: Tellers = {
    events: {
      onTold: (listener) => Object.assign(listeners, { events: listener }),
      retell: (told) => void retold.push(['events', told]),
      approvers: new Approvers(),
    },
    broadcast: {
      onTold: (listener) => Object.assign(listeners, { broadcast: listener }),
      retell: (told) => void retold.push(['broadcast', told]),
    },
    global: {
      onTold: (listener) => Object.assign(listeners, { global: listener }),
      retell: (told) => void retold.push(['global', told]),
      tellStates: () => undefined,
    },
  };
  return { all, listeners, retold };
}

const ended = (wsId: string) => ({ kind: 'ended', wsId }) as const;
const frame = {
  kind: 'watched',
  event: 'chat',
  about: { wsId: 'w', ownerId: '', visibility: 'shared' },
  payloadJson: '{}',
} as const;
const change = { event: { type: 'ws_created', ws_id: 'w', name: 'n' }, terms: {} } as const;
const nextTurn = () => new Promise(setImmediate);

test('the news of a turn of the event loop are passed on together, in order', async () => {
  const { all, listeners } = tellers();
  const passed: (readonly News[])[] = [];
  collectNews(all, (news) => void passed.push(news));
  listeners.events?.(ended('a'));
  listeners.broadcast?.(frame);
  await Promise.resolve();
  listeners.global?.(change);
  listeners.events?.(ended('b'));
  assert.deepEqual(passed, []);
  await nextTurn();
  listeners.events?.(ended('c'));
  await nextTurn();
  await nextTurn();
  assert.deepEqual(passed, [
    [
      { of: 'log', told: ended('a') },
      { of: 'frame', told: frame },
      { of: 'change', told: change },
      { of: 'log', told: ended('b') },
    ],
    [{ of: 'log', told: ended('c') }],
  ]);
});

test('news are told again to the same parts, in order', () => {
  const { all, retold } = tellers();
  retell(
    [
      { of: 'change', told: change },
      { of: 'log', told: ended('a') },
      { of: 'frame', told: frame },
    ],
    all,
  );
  assert.deepEqual(retold, [
    ['global', change],
    ['events', ended('a')],
    ['broadcast', frame],
  ]);
});

test('what only a newer version tells is ignored, and the rest is told', () => {
  const { all, retold } = tellers();
  const newer: News[] = JSON.parse(
    JSON.stringify([
      { of: 'later', told: {} },
      { of: 'frame', told: { kind: 'event', event: 'later.event', payload: {}, terms: {} } },
      { of: 'frame', told: frame },
    ]),
  );
  retell(newer, all);
  assert.deepEqual(retold, [['broadcast', frame]]);
});
