import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import { settled } from '../app-fixture.ts';
import { createFakeClient } from '../fake-client.ts';
import { FollowedOutput } from './followed-output.ts';

/** A command whose output grows, and a clock that the test moves. */
function follow() {
  const { client, answer, calls } = createFakeClient();
  const world = {
    printed: Buffer.from(''),
    state: 'running',
    waits: [] as number[],
    refusal: undefined as Error | undefined,
  };
  let next: (() => void) | undefined;
  answer('background.output', ({ offset, limit }: { offset?: number; limit: number }) => {
    if (world.refusal) throw world.refusal;
    const from = offset ?? Math.max(0, world.printed.length - limit);
    const text = world.printed.subarray(from, from + limit).toString('utf8');
    return { command: { state: world.state }, text, offset: from, totalBytes: world.printed.length };
  });
  const timers = {
    after(ms: number, run: () => void) {
      world.waits.push(ms);
      next = run;
      return () => {
        next = undefined;
      };
    },
  };
  const followed = new FollowedOutput({ client, wsId: 'ws', commandId: 'c', timers });
  const step = async () => {
    const run = next;
    next = undefined;
    run?.();
    await settled();
    return run !== undefined;
  };
  const print = (text: string | Buffer) => {
    world.printed = Buffer.concat([world.printed, Buffer.from(text)]);
  };
  return {
    followed,
    world,
    print,
    step,
    offsets: () => calls.map(([, params]) => (params as { offset?: number }).offset),
  };
}

test('only what was printed since is read, until the command has ended', async () => {
  const { followed, world, print, step, offsets } = follow();
  print('one\n');
  followed.start();
  await settled();
  print('two\n');
  await step();
  await step();
  print('three\n');
  world.state = 'ended';
  await step();
  assert.equal(followed.end.value?.text, 'one\ntwo\nthree\n');
  assert.deepEqual(offsets(), [undefined, 4, 8, 8]);
  assert.equal(await step(), false, 'nothing is read after the end');
});

test('a character that was printed in two parts is read whole', async () => {
  const { followed, print, step } = follow();
  const euro = Buffer.from('€');
  print(euro.subarray(0, 2));
  followed.start();
  await settled();
  print(euro.subarray(2));
  await step();
  assert.equal(followed.end.value?.text, '€');
});

test('of a fast command the last pages are shown, and the page does not grow with it', async () => {
  const { followed, print, step } = follow();
  followed.start();
  await settled();
  print(`${'x'.repeat(299_999)}y`);
  await step();
  assert.equal(followed.end.value?.text.length, 131_072);
  for (let times = 0; times < 8; times += 1) {
    print(`${'z'.repeat(99_999)}!`);
    await step();
  }
  const { text = '', totalBytes = 0, offset = 0 } = followed.end.value ?? {};
  assert.ok(text.length <= 500_000 && text.endsWith('z!'), `${text.length} characters`);
  assert.equal(offset + text.length, totalBytes);
});

test('the rate limit is waited for, other failures are told, and a stop ends it', async () => {
  const { followed, world, print, step } = follow();
  world.refusal = new RequestError('RATE_LIMITED', 'later', { retryAfterMs: 5_000 });
  followed.start();
  await settled();
  assert.deepEqual([followed.problem.value, world.waits], [undefined, [5_000]]);
  world.refusal = new RequestError('NOT_FOUND', 'This output has expired');
  await step();
  assert.equal(followed.problem.value, 'This output has expired');
  world.refusal = undefined;
  print('back');
  await step();
  assert.deepEqual([followed.problem.value, followed.end.value?.text], [undefined, 'back']);
  followed.stop();
  assert.equal(await step(), false);
});
