import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { FromSuccessor } from './handover-messages.ts';
import { findPredecessor, type SuccessorProcess, untilUnlocked } from './predecessor.ts';

const nothing = () => undefined;

class PlayedProcess extends EventEmitter {
  readonly env: Record<string, string | undefined> = { HEADGATE_HANDOVER: '{"host":"127.0.0.1","port":0}' };
  connected = true;
  readonly said: FromSuccessor[] = [];
  send(...[message, , , callback]: Parameters<NonNullable<SuccessorProcess['send']>>): boolean {
    this.said.push(message);
    callback();
    return true;
  }
  cut(): void {
    this.connected = false;
    this.emit('disconnect');
  }
}

function begun() {
  const self = new PlayedProcess();
  const predecessor = findPredecessor(self) ?? assert.fail('none');
  return { self, predecessor };
}

const PLAN = { version: '2.0.0', migration: null };

test('only a process with the variable and a channel has a predecessor; what it starts does not', () => {
  const { self } = begun();
  assert.deepEqual(self.env, {});
  assert.equal(findPredecessor(self), undefined);
  assert.equal(
    findPredecessor({ env: { HEADGATE_HANDOVER: '{}' }, connected: false, on: nothing, once: nothing }),
    undefined,
  );
});

test('another address is refused', () => {
  const { predecessor } = begun();
  predecessor.requireAddress({ host: '127.0.0.1', port: 0 });
  assert.throws(
    () => predecessor.requireAddress({ host: '127.0.0.1', port: 7717 }),
    /from 127\.0\.0\.1:0 to 127\.0\.0\.1:7717/,
  );
});

test('it may start when the predecessor has stopped, or was killed meanwhile', async () => {
  const told = begun();
  const start = told.predecessor.mayStart(PLAN);
  told.self.emit('message', { type: 'unknown' });
  told.self.emit('message', { type: 'begin' });
  told.self.emit('message', { type: 'go' });
  await start;
  assert.deepEqual(told.self.said, [{ type: 'checked', version: '2.0.0', migration: null }]);
  const killed = begun();
  const meanwhile = killed.predecessor.mayStart(PLAN);
  killed.self.emit('message', { type: 'begin' });
  killed.self.cut();
  await meanwhile;
});

test('it may not start if the predecessor ended before it began to stop', async () => {
  const { self, predecessor } = begun();
  const start = predecessor.mayStart(PLAN);
  self.cut();
  await assert.rejects(start, /ended before it handed over/);
});

test('it is an orphan if the predecessor is killed after the hand-over, unless that left', async () => {
  const killed = begun();
  await killed.predecessor.tell({ type: 'serving' });
  killed.self.cut();
  await killed.predecessor.orphaned;
  const left = begun();
  await left.predecessor.tell({ type: 'serving' });
  left.self.emit('message', { type: 'leave' });
  left.self.cut();
  assert.equal(await Promise.race([left.predecessor.orphaned.then(() => 'orphan'), 'none']), 'none');
});

test('a lock that is freed a moment later is waited for, but not for ever', async () => {
  const clock = fakeClock(0);
  let isLocked = true;
  const lock = () => {
    if (isLocked) throw new Error('locked');
    return { release: nothing };
  };
  const free = untilUnlocked(lock, clock);
  isLocked = false;
  await clock.advance(10);
  await free;
});
