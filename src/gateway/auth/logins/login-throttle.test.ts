import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { createLoginThrottle } from './login-throttle.ts';

const MINUTE_MS = 60_000;

function setUp() {
  const clock = fakeClock();
  const throttle = createLoginThrottle({ clock });
  const fail = (address = '1.2.3.4', times = 1) => {
    let waitMs = 0;
    for (let n = 0; n < times; n++) {
      const attempt = throttle.begin('code', address);
      waitMs = attempt.kind === 'locked' ? attempt.retryAfterMs : 0;
      if (attempt.kind === 'counted') attempt.ended('failed');
    }
    return waitMs;
  };
  return { clock, throttle, fail };
}

test('after five failures in five minutes an address waits', () => {
  const { fail } = setUp();
  assert.deepEqual([fail('1.2.3.4', 5), fail(), fail('5.6.7.8')], [0, 5 * MINUTE_MS, 0]);
});

test('failures older than five minutes do not count', async () => {
  const { clock, fail } = setUp();
  fail('1.2.3.4', 4);
  await clock.advance(5 * MINUTE_MS);
  assert.deepEqual([fail('1.2.3.4', 5), fail()], [0, 5 * MINUTE_MS]);
});

test('each lock lasts twice as long as the last, up to a quarter of an hour; a quiet period resets them', async () => {
  const { clock, fail } = setUp();
  const locks: number[] = [];
  for (let n = 0; n < 4; n++) {
    fail('1.2.3.4', 5);
    locks.push(fail() / MINUTE_MS);
    await clock.advance(15 * MINUTE_MS - 1);
    await clock.advance(1);
  }
  assert.deepEqual(locks, [5, 10, 15, 15]);
  await clock.advance(30 * MINUTE_MS);
  assert.deepEqual([fail('1.2.3.4', 5), fail()], [0, 5 * MINUTE_MS]);
});

test('an attempt during a lock does not prolong it', async () => {
  const { clock, fail } = setUp();
  fail('1.2.3.4', 6);
  await clock.advance(4 * MINUTE_MS);
  assert.equal(fail('1.2.3.4', 100), MINUTE_MS);
  await clock.advance(MINUTE_MS);
  assert.equal(fail(), 0);
});

test('a success does not count', () => {
  const { throttle, fail } = setUp();
  for (let n = 0; n < 20; n++) {
    const attempt = throttle.begin('code', '1.2.3.4');
    assert.ok(attempt.kind === 'counted');
    attempt.ended('succeeded');
  }
  assert.deepEqual([fail('1.2.3.4', 5), fail()], [0, 5 * MINUTE_MS]);
});

test('as many attempts are in progress as may fail; the others wait and lock nothing', async () => {
  const { throttle, fail } = setUp();
  const attempts = Array.from({ length: 50 }, () => throttle.begin('password', '1.2.3.4'));
  assert.deepEqual(
    attempts.map(({ kind }) => kind),
    [...Array(5).fill('counted'), ...Array(45).fill('crowded')],
  );
  const [first, , , , , sixth] = attempts;
  assert.ok(first?.kind === 'counted' && sixth?.kind === 'crowded');
  first.ended('succeeded');
  await sixth.free;
  assert.equal(throttle.begin('password', '1.2.3.4').kind, 'counted');
  assert.equal(fail(), 0);
});

test('attempts that wait are refused once those in progress have failed', async () => {
  const { throttle } = setUp();
  const attempts = Array.from({ length: 6 }, () => throttle.begin('password', '1.2.3.4', 'anna'));
  for (const attempt of attempts) if (attempt.kind === 'counted') attempt.ended('failed');
  const last = attempts.at(-1);
  assert.ok(last?.kind === 'crowded');
  await last.free;
  assert.deepEqual(throttle.begin('password', '1.2.3.4', 'anna'), { kind: 'locked', retryAfterMs: 5 * MINUTE_MS });
});

test('at most 256 attempts wait', () => {
  const { throttle } = setUp();
  const begin = () => throttle.begin('password', '1.2.3.4');
  for (let n = 0; n < 261; n += 1) begin();
  assert.deepEqual(begin(), { kind: 'locked', retryAfterMs: 1_000 });
});

test('all addresses together may have fifty failures per kind', () => {
  const { throttle, fail } = setUp();
  for (let n = 0; n < 50; n++) assert.equal(fail(`10.0.0.${n}`), 0);
  assert.equal(fail('10.0.1.1'), 5 * MINUTE_MS);
  assert.equal(throttle.begin('token', '10.0.1.1').kind, 'counted');
});

test('an IPv4 address written as IPv6 is the same, and IPv6 addresses count by their /64', () => {
  const { fail } = setUp();
  fail('::ffff:1.2.3.4', 3);
  fail('1.2.3.4', 2);
  assert.equal(fail('::FFFF:1.2.3.4'), 5 * MINUTE_MS);
  fail('2001:db8::1', 3);
  fail('2001:0db8:0:0:ffff:ffff:ffff:ffff', 2);
  assert.deepEqual([fail('2001:DB8::2'), fail('2001:db8:0:1::1')], [5 * MINUTE_MS, 0]);
});

test('the wait is in whole milliseconds, whatever the clock', async () => {
  const { clock, fail } = setUp();
  fail('1.2.3.4', 5);
  fail();
  await clock.advance(0.25);
  assert.equal(fail(), 5 * MINUTE_MS);
});

test('whoever is locked out, or guesses from many networks, does not let the lock of an account be forgotten', () => {
  const { throttle } = setUp();
  const guess = (address: string, account: string) => {
    const attempt = throttle.begin('password', address, account);
    if (attempt.kind === 'counted') attempt.ended('failed');
    return attempt.kind;
  };
  for (let n = 0; n < 5; n += 1) guess('1.2.3.4', 'ada');
  assert.equal(guess('5.6.7.8', 'ada'), 'locked');
  for (let n = 0; n < 12_000; n += 1) guess('1.2.3.4', `somebody ${n}`);
  assert.equal(guess('5.6.7.8', 'ada'), 'locked');
  for (let n = 0; n < 12_000; n += 1) guess(`10.${n >> 8}.${n & 255}.1`, `other ${n}`);
  assert.equal(guess('5.6.7.8', 'ada'), 'locked');
});
