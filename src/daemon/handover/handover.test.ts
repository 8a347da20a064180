import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createHandover, type Handover } from './handover.ts';
import type { FromPredecessor } from './handover-messages.ts';
import { type Child, untilChecked } from './successor.ts';

const nothing = () => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const CHECKED = { type: 'checked', version: '2.0.0', migration: { from: 51, to: 52 }, later: true };

/** A process that only says what the test wants. */
class PlayedChild extends EventEmitter implements Child {
  readonly pid = 7;
  connected = true;
  readonly heard: string[] = [];
  send({ type }: FromPredecessor, callback: (error: Error | null) => void): boolean {
    this.heard.push(type);
    callback(null);
    return true;
  }
  kill(signal: NodeJS.Signals): boolean {
    this.heard.push(signal);
    this.end(null, 'SIGKILL');
    return true;
  }
  end(code: number | null, signal: NodeJS.Signals | null = null): void {
    if (!this.connected) return;
    this.connected = false;
    this.emit('exit', code, signal);
    this.emit('disconnect');
  }
}

interface Played {
  handover: Handover;
  child: PlayedChild;
  /** What the process did. */
  did: string[];
  clock: ReturnType<typeof fakeClock>;
}

function play({
  canLeave = false,
  isServing = true,
  stop = () => Promise.resolve(),
}: {
  canLeave?: boolean;
  isServing?: boolean | (() => boolean);
  stop?: () => Promise<void>;
} = {}): Played {
  const child = new PlayedChild();
  const clock = fakeClock(0);
  const did: string[] = [];
  const handover = createHandover({
    isServing: typeof isServing === 'function' ? isServing : () => isServing,
    startSuccessor: (signal) => untilChecked(child, { clock, signal }),
    async stop() {
      did.push('stop');
      await stop();
    },
    startAgain: async (why) => void did.push(`start again: ${why}`),
    canLeave,
    tidy: () => void did.push('tidy'),
    exit: (code) => void did.push(`exit ${code}`),
    clock,
    log,
  });
  return { handover, child, did, clock };
}

/** Lets everything that waits for nothing else go on. */
const settled = async () => {
  for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
};

async function handOver({ handover, child, clock }: Played): Promise<void> {
  const answer = handover.restart({ check: false });
  child.emit('message', CHECKED);
  assert.deepEqual(await answer, { version: '2.0.0', pid: 7, migration: { from: 51, to: 52, usableFrom: 52 } });
  await clock.advance(50);
  await settled();
}

test('a successor begins when the daemon has stopped; its end is the end of the former process', async () => {
  const played = play();
  const { handover, child, did } = played;
  await handOver(played);
  assert.deepEqual([did, child.heard], [['stop'], ['begin', 'go']]);
  assert.equal(handover.forward('SIGTERM'), false);
  child.emit('message', { type: 'serving' });
  await settled();
  assert.equal(handover.forward('SIGHUP'), true);
  await settled();
  assert.deepEqual(
    [did, child.heard],
    [
      ['stop', 'tidy', 'exit 1'],
      ['begin', 'go', 'SIGHUP'],
    ],
  );
});

test('if others learn the pid, the former process ends first', async () => {
  const played = play({ canLeave: true });
  await handOver(played);
  played.child.emit('message', { type: 'serving' });
  await settled();
  assert.deepEqual([played.did, played.child.heard.at(-1)], [['stop', 'exit 0'], 'leave']);
});

test('a successor that ends before it serves: the former process starts again', async () => {
  const played = play();
  await handOver(played);
  played.child.emit('message', { type: 'refused', why: 'the disk is full' });
  played.child.end(1);
  await settled();
  assert.deepEqual(played.did, ['stop', 'start again: the disk is full']);
});

test('a daemon that began to hand over during the check does not hand over twice', async () => {
  let isServing = true;
  const { handover, child, did } = play({ isServing: () => isServing });
  const refused = assert.rejects(handover.restart({ check: false }), { code: 'UNAVAILABLE' });
  isServing = false;
  child.emit('message', CHECKED);
  await refused;
  assert.deepEqual([did, child.heard], [[], ['SIGKILL']]);
});

test('a refusal and a check change nothing', async () => {
  const refusing = play();
  const refused = refusing.handover.restart({ check: false });
  refusing.child.emit('message', { type: 'refused', why: 'config.json is wrong' });
  refusing.child.end(1);
  await assert.rejects(refused, {
    code: 'CONFLICT',
    message: 'The installed program cannot take over: config.json is wrong',
  });
  const checking = play();
  const check = checking.handover.restart({ check: true });
  await assert.rejects(checking.handover.restart({ check: false }), { message: 'Another restart is in progress' });
  checking.child.emit('message', CHECKED);
  await check;
  await checking.clock.advance(1_000);
  assert.deepEqual([refusing.did, checking.did, checking.child.heard], [[], [], ['SIGKILL']]);
});

test('a stop while the successor checks, or waits, ends it, too', async () => {
  const early = play();
  const answer = early.handover.restart({ check: false });
  await early.handover.stop();
  await assert.rejects(answer, { message: 'The installed program cannot take over: the daemon is stopping' });
  const stopped = Promise.withResolvers<void>();
  const late = play({ stop: () => stopped.promise });
  await handOver(late);
  await late.handover.stop();
  stopped.resolve();
  await settled();
  assert.deepEqual([late.did, late.child.heard.slice(0, 2)], [['stop'], ['begin', 'SIGTERM']]);
});

test('a drain waits for the end of a check, and does not happen during a restart', async () => {
  const checking = play();
  const check = checking.handover.restart({ check: true });
  checking.handover.drain(() => checking.did.push('drain'));
  await settled();
  assert.deepEqual(checking.did, []);
  checking.child.emit('message', CHECKED);
  await check;
  assert.deepEqual([checking.did, checking.child.heard], [['drain'], ['SIGKILL']]);
  const restarting = play();
  const answer = restarting.handover.restart({ check: false });
  restarting.handover.drain(() => restarting.did.push('drain'));
  restarting.child.emit('message', CHECKED);
  await answer;
  restarting.handover.drain(() => restarting.did.push('drain'));
  await restarting.clock.advance(50);
  await settled();
  assert.deepEqual([restarting.did, restarting.child.heard], [['stop'], ['begin', 'go']]);
  restarting.child.end(1);
});

test('a daemon that hands over to a standby cannot be restarted', async () => {
  const { handover, child } = play({ isServing: false });
  await assert.rejects(handover.restart({ check: false }), { code: 'UNAVAILABLE' });
  assert.deepEqual(child.heard, []);
});

test('a daemon that does not stop in time leaves the rest to the successor', async () => {
  const played = play({ stop: () => new Promise(nothing) });
  await handOver(played);
  await played.clock.advance(15_000);
  await settled();
  assert.deepEqual([played.did, played.child.heard], [['stop', 'exit 1'], ['begin']]);
});

test('a successor that says nothing for a minute is ended', async () => {
  const played = play();
  const answer = played.handover.restart({ check: false });
  const outcome = assert.rejects(answer, /it was not ready within 60 s/);
  await settled();
  await played.clock.advance(60_000);
  await outcome;
  assert.deepEqual(played.child.heard, ['SIGKILL']);
});
