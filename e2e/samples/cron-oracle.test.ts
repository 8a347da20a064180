import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, compareOffsets, type Stretch, toSubject, toSubjectOfCroner } from '../cron-oracle/compare.ts';
import { drawExpressions } from '../cron-oracle/expressions.ts';
import { readZones, stretchesAroundChanges, stretchesOfDays } from '../cron-oracle/stretches.ts';

// `npm run cron-oracle` compares everything.
const ZONES = [
  'Europe/Berlin',
  'America/Havana',
  'America/Nuuk',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Antarctica/Casey',
];

const subjects = drawExpressions(40, 1).map(toSubject);
const tables = readZones(ZONES);

test('occurrences around a clock change are the same as in a minute-by-minute search', () => {
  const latest = tables.flatMap((table) => stretchesAroundChanges([table]).slice(-2));
  assert.equal(latest.length, 2 * ZONES.length);
  agree(latest);
});

test('occurrences of any day are the same as in a minute-by-minute search', () => {
  agree(stretchesOfDays(tables, 2, 1));
});

test('the offsets of every zone match its formatted dates', () => {
  const all = readZones(['Asia/Kathmandu', 'Pacific/Apia', 'America/Asuncion', 'Asia/Beirut']);
  const differences = [...all, ...tables].flatMap((table) =>
    stretchesAroundChanges([table]).flatMap(({ aroundMs }) => compareOffsets(table, aroundMs)),
  );
  assert.deepEqual(differences, []);
});

test('the search detects a wrong rule', () => {
  const [daily] = ['30 2 * * *'].map(toSubject);
  assert.ok(daily);
  const inUtc = { ...daily, next: (_tz: string, afterMs: number) => daily.next('UTC', afterMs) };
  const results = stretchesAroundChanges(tables).map((stretch) => compare(stretch, [inUtc]));
  assert.ok(results.every(({ differences }) => differences.length > 0));
});

test('croner’s own rule agrees, except when a clock change skips midnight', () => {
  const [late] = ['30 23 * * *'].map(toSubjectOfCroner);
  assert.ok(late);
  const differing = stretchesAroundChanges(tables).filter((stretch) => compare(stretch, [late]).differences.length > 0);
  assert.deepEqual([...new Set(differing.map(({ table }) => table.tz))], ['America/Nuuk']);
});

function agree(stretches: readonly Stretch[]): void {
  const results = stretches.map((stretch) => compare(stretch, subjects));
  assert.deepEqual(
    results.flatMap(({ differences }) => differences),
    [],
  );
  assert.ok(results.every(({ occurrences }) => occurrences > 1_000));
}
