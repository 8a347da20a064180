import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fail, say, seen, sent, shown } from '../cuts/take-back-fixture.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** Runs a command in `main`; returns why it did nothing. */
async function run(gateway: WholeGateway, command: string): Promise<string | undefined> {
  const wsId = await gateway.main();
  const { error } = await gateway.call('workstream.command', { wsId, command });
  await gateway.isIdle(wsId);
  return error;
}

test('/retry #N answers message N again, in place of everything after it, also if it failed long ago', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a');
  await fail(gateway, 'b');
  await say(gateway, 'c');
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '3 b', '4 c', '5 C']);
  gateway.puppet.turn('BB');
  assert.equal(await run(gateway, '/retry #3'), undefined);
  assert.deepEqual(
    [sent(gateway), await seen(gateway)],
    [
      ['a', 'A', 'b'],
      ['1 a', '2 A', '6 b', '7 BB'],
    ],
  );
  gateway.puppet.turn('AA');
  assert.equal(await run(gateway, '/retry 1'), undefined);
  assert.deepEqual(await seen(gateway), ['8 a', '9 AA']);
});

test('workstream.retry with seq answers that message again', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a', 'b');
  await gateway.call('workstream.retry', { wsId, seq: 1 });
  await gateway.isIdle(wsId);
  assert.deepEqual(await seen(gateway), ['5 a', '6 ok']);
});

test('/edit #N replaces message N and everything after it; without the mark, a number is text', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a', 'b');
  assert.equal(await run(gateway, '/edit 1 apple'), undefined);
  assert.deepEqual(await seen(gateway), ['1 a', '2 A', '5 1 apple', '6 ok']);
  assert.equal(await run(gateway, '/edit #1 two\nlines'), undefined);
  assert.deepEqual(await seen(gateway), ['7 two\nlines', '8 ok']);
});

test('/remove #N removes the failed message N', async () => {
  await using gateway = await wholeGateway();
  await fail(gateway, 'a');
  await fail(gateway, 'b');
  assert.equal(await run(gateway, '/remove #1'), undefined);
  assert.deepEqual(await seen(gateway), ['2 b']);
});

test('/fork #N copies up to the answer to message N', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a', 'b', 'c');
  for (const [command, name] of [
    ['/fork #3 branch', 'branch'],
    ['/fork 7', '7'],
  ] as const) {
    assert.equal(await run(gateway, command), undefined);
    const { workstreams } = await gateway.call('workstream.list', {});
    const copy = workstreams.find((row) => row.name === name);
    const all = ['1 a', '2 A', '3 b', '4 B', '5 c', '6 C'];
    assert.deepEqual(await shown(gateway, copy?.wsId), name === 'branch' ? all.slice(0, 4) : all);
  }
});

test('a number that is not a message of the person is refused, and changes nothing', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'a', 'b');
  await gateway.call('workstream.rewind', { wsId: await gateway.main(), turns: 1 });
  const { length } = (await gateway.call('workstream.list', {})).workstreams;
  const refusals: Record<string, string> = {};
  for (const command of ['/retry #2', '/retry #3', '/edit #0 x', '/fork #2', '/fork #9', '/remove #9', '/remove #1'])
    refusals[command] = (await run(gateway, command)) ?? '';
  for (const command of ['/retry a', '/remove #x', '/edit #1']) refusals[command] = (await run(gateway, command)) ?? '';
  assert.deepEqual(refusals, {
    '/retry #2': 'Message 2 is not a message of a person.',
    '/retry #3': 'This conversation has no message 3.',
    '/edit #0 x': 'This conversation has no message 0.',
    '/fork #2': 'Message 2 is not a message of a person.',
    '/fork #9': 'This conversation has no message 9.',
    '/remove #9': 'This conversation has no message 9.',
    '/remove #1': 'Message 1 has not failed. Rewind to take back a message with its answer.',
    '/retry a': 'Usage: /retry [#N]',
    '/remove #x': 'Usage: /remove [#N]',
    '/edit #1': 'Usage: /edit [#N] MESSAGE',
  });
  assert.deepEqual(await seen(gateway), ['1 a', '2 A']);
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, length);
});
