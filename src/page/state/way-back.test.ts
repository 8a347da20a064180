import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WayBack } from './way-back.ts';

/** A browser whose history moves when it is told that it has. `told` is how far the page has asked to go. */
function open(entries: unknown[] = ['elsewhere', null]) {
  let at = entries.length - 1;
  const told: number[] = [];
  const closed: string[] = [];
  const opened: string[] = [];
  const history = {
    get state() {
      return entries[at];
    },
    pushState(state: unknown) {
      at += 1;
      entries.splice(at, entries.length, state);
    },
    replaceState(state: unknown) {
      entries[at] = state;
    },
    go: (by = 0) => void told.push(by),
  };
  const way = new WayBack({ history, closeTop: () => void closed.push(opened.pop() ?? 'nothing') });
  const move = (by: number) => {
    const before = opened.length;
    at += by;
    way.onMoved();
    if (opened.length !== before) way.follow(opened.length);
  };
  return {
    entries,
    closed,
    move,
    show(...things: string[]) {
      opened.splice(0, opened.length, ...things);
      way.follow(things.length);
    },
    /** The browser does what the page has asked for. */
    arrive: () => move(told.shift() ?? assert.fail('nothing was asked for')),
    isAtRest: () => told.length === 0,
  };
}

test('Back closes the last opened overlay, one at a time, and then leaves the page', () => {
  const { entries, closed, move, show, isAtRest } = open();
  show('schedule');
  show('schedule', 'a job');
  assert.deepEqual(entries, ['elsewhere', null, 1, 2]);
  move(-1);
  assert.deepEqual(closed, ['a job']);
  move(-1);
  assert.deepEqual([closed, isAtRest()], [['a job', 'schedule'], true]);
});

test('closing an overlay removes its entry, and overlays in sequence share one entry', () => {
  const { entries, closed, show, arrive, isAtRest, move } = open();
  show('drawer');
  show('schedule');
  assert.deepEqual(entries, ['elsewhere', null, 1]);
  show();
  arrive();
  assert.deepEqual([closed, isAtRest()], [[], true]);
  show('nodes');
  assert.deepEqual(entries, ['elsewhere', null, 1]);
  move(-1);
  assert.deepEqual(closed, ['nodes']);
});

test('an overlay opened before the history has moved stays open and has an entry', () => {
  const { entries, closed, show, arrive, move } = open();
  show('a dialog');
  show();
  show('schedule');
  show('schedule', 'a job');
  arrive();
  assert.deepEqual([entries, closed], [['elsewhere', null, 1, 2], []]);
  move(-2);
  assert.deepEqual(closed, ['a job', 'schedule']);
});

test('an entry from before a reload closes nothing, and Forward opens nothing', () => {
  const { entries, closed, show, move, isAtRest } = open(['elsewhere', null, 1]);
  assert.deepEqual(entries, ['elsewhere', null, null]);
  show('schedule');
  move(-1);
  move(1);
  move(-1);
  assert.deepEqual([closed, isAtRest()], [['schedule'], true]);
});
