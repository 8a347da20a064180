import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Roster } from './roster.ts';

test('members are listed in the order in which they came, whoever leaves', () => {
  const roster = new Roster<string>();
  const leave = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, roster.add(name)]));
  leave.b?.();
  assert.deepEqual([...roster], ['a', 'c', 'd']);
  leave.a?.();
  leave.d?.();
  assert.deepEqual([[...roster], roster.size], [['c'], 1]);
  roster.add('e');
  assert.deepEqual([...roster], ['c', 'e']);
  leave.c?.();
  assert.deepEqual([[...roster], roster.size], [['e'], 1]);
});

test('leaving twice does no harm, and the same member may come twice', () => {
  const roster = new Roster<string>();
  const [first, second] = [roster.add('a'), roster.add('a')];
  first();
  first();
  assert.deepEqual([[...roster], roster.size], [['a'], 1]);
  second();
  assert.deepEqual([[...roster], roster.size], [[], 0]);
  roster.add('b');
  assert.deepEqual([...roster], ['b']);
});

test('who leaves while the members are visited is still visited once', () => {
  const roster = new Roster<string>();
  const leave = ['a', 'b', 'c'].map((name) => roster.add(name));
  const visited: string[] = [];
  for (const member of roster) {
    visited.push(member);
    for (const each of leave) each();
    roster.add('later');
  }
  assert.deepEqual(visited, ['a', 'b', 'c']);
});
