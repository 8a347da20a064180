import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DiagramDrawer, type Drawn } from './diagram-drawer.ts';
import { type DrawRequest, MAX_SOURCE_CHARS } from './diagram-messages.ts';

/** A drawer whose frames and time the test plays. */
function openDrawer() {
  const frames: { sent: DrawRequest[]; isClosed: boolean; tell(message: unknown): void }[] = [];
  const timers = new Set<{ ms: number; callback(): void }>();
  const drawer = new DiagramDrawer({
    open(tell) {
      const frame = { sent: [] as DrawRequest[], isClosed: false, tell };
      frames.push(frame);
      return {
        send: (request) => void frame.sent.push(request),
        close() {
          frame.isClosed = true;
        },
      };
    },
    timers: {
      after(ms, callback) {
        const timer = { ms, callback };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
  });
  const passTime = () => {
    const [timer, ...others] = timers;
    assert.deepEqual(others, [], 'one timer at a time');
    if (timer === undefined) assert.fail('no timer');
    timers.delete(timer);
    timer.callback();
    return timer.ms;
  };
  const frameAt = (place: number) => frames[place] ?? assert.fail(`no frame ${place}`);
  return { drawer, frames, frameAt, passTime, timers };
}

const pictureOf = (id: number) => ({
  kind: 'picture',
  id,
  svg: `<svg>${id}</svg>`,
  width: 1,
  height: 1,
  type: 'pie',
  title: '',
  description: '',
});

const wordsOf = (drawn: Drawn) => (drawn.kind === 'picture' ? drawn.svg : drawn.reason);

test('diagrams are drawn one after the other in one frame, which is removed when it is idle', async () => {
  const { drawer, frames, frameAt, passTime, timers } = openDrawer();
  const [first, second] = [drawer.draw('a', false), drawer.draw('b', true)];
  assert.deepEqual(frameAt(0).sent, [], 'it is not ready');
  frameAt(0).tell({ kind: 'ready' });
  assert.deepEqual(frameAt(0).sent, [{ id: 1, source: 'a', isDark: false }]);
  frameAt(0).tell(pictureOf(7)); // an earlier one
  frameAt(0).tell(pictureOf(1));
  frameAt(0).tell({ kind: 'none', id: 2, reason: 'Parse error.' });
  assert.deepEqual([wordsOf(await first), wordsOf(await second)], ['<svg>1</svg>', 'Parse error.']);
  assert.equal(wordsOf(await drawer.draw('a', false)), '<svg>1</svg>', 'a picture is kept');
  assert.equal(passTime(), 30_000);
  assert.deepEqual([frames.length, frameAt(0).isClosed, timers.size], [1, true, 0]);
});

test('a frame that does not answer is removed, and the next diagram has a new one', async () => {
  const { drawer, frameAt, passTime } = openDrawer();
  const [first, second] = [drawer.draw('endless', false), drawer.draw('b', false)];
  frameAt(0).tell({ kind: 'ready' });
  assert.equal(passTime(), 8_000);
  assert.deepEqual(await first, { kind: 'none', reason: 'Drawing it takes too long.', isPassing: true });
  assert.equal(frameAt(0).isClosed, true);
  frameAt(1).tell({ kind: 'ready' });
  frameAt(0).tell(pictureOf(2)); // of the removed frame
  frameAt(1).tell({ kind: 'picture', id: 2, svg: 'no' });
  assert.equal(wordsOf(await second), 'It was drawn, but the picture is unusable.');
  assert.equal(frameAt(1).isClosed, true);
});

test('if the frame cannot be loaded, all that wait are told, and another attempt loads it again', async () => {
  const { drawer, frames, passTime } = openDrawer();
  const waiting = [drawer.draw('a', false), drawer.draw('b', false)];
  assert.equal(passTime(), 20_000);
  assert.deepEqual((await Promise.all(waiting)).map(wordsOf), [
    'The code that draws it could not be loaded.',
    'The code that draws it could not be loaded.',
  ]);
  void drawer.draw('a', false);
  assert.equal(frames.length, 2);
});

test('an empty source, a long one and one too many are refused; one that nobody sees any more leaves the queue', async () => {
  const { drawer, frameAt } = openDrawer();
  assert.equal(wordsOf(await drawer.draw(' \n', false)), 'The diagram is empty.');
  assert.match(wordsOf(await drawer.draw('x'.repeat(MAX_SOURCE_CHARS + 1), false)), /20000 characters/);
  const gone = new AbortController();
  const unseen = drawer.draw('unseen', false, gone.signal);
  for (let count = 1; count < 20; count += 1) void drawer.draw(`d${count}`, false);
  assert.equal(wordsOf(await drawer.draw('more', false)), 'Too many diagrams at once.');
  gone.abort();
  await unseen;
  frameAt(0).tell({ kind: 'ready' });
  assert.deepEqual(
    frameAt(0).sent.map(({ source }) => source),
    ['d1'],
  );
});
