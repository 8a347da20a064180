import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { z } from 'zod';
import { openConversation } from '../support/clients/conversation.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { say } from '../support/model/scripted-steps.ts';
import { unpackHome } from '../upgrade/old-home.ts';

const MINUTE_MS = 60_000;
/** Their rows have checksums, and tests of their own. */
const CHECKED = ['messages', 'events', 'cuts'];
/** Half of a JSON text, as a lost page or an edit by hand may leave it. */
const HALF = '{"hal';

test('with half of every stored JSON value, the daemon starts, answers and overwrites nothing', async () => {
  // A home with jobs, nodes, commands on nodes, questions and events that wait.
  await using old = await unpackHome('schema-11');
  await (await old.start(MINUTE_MS)).daemon.stop();
  const damaged = damageAll(old.database);
  assert.ok(damaged.length > 10, damaged.join());

  const { daemon, answers } = await old.start(2 * MINUTE_MS);
  const told = await answers();
  assert.deepEqual(
    Object.keys(told).filter((question) => JSON.stringify(told[question]).includes('"INTERNAL"')),
    [],
  );
  const { body } = await daemon.get('/health');
  assert.deepEqual([body.store.status, body.store.damaged], ['degraded', true]);
  await converse(daemon, old.model);
  await daemon.stop();
  assert.deepEqual(damageIn(old.database), damaged);
});

/** Everything else stays available. */
async function converse(daemon: DaemonUnderTest, model: ScriptedModel): Promise<void> {
  await using conversation = await openConversation(daemon, { name: 'after the damage' });
  model.when('hello', say('Hello.'));
  await conversation.ended(await conversation.ask('hello'));
  assert.ok(
    conversation.story().some((line) => line.includes('Hello.')),
    conversation.story().join('\n'),
  );
}

const Names = z.array(z.object({ name: z.string() }));

/** Damages each value in all columns with JSON. Returns what `damageIn` returns. */
function damageAll(file: string): string[] {
  using database = new DatabaseSync(file);
  for (const { table, column } of jsonColumns(database))
    database.exec(`update ${table} set ${column} = '${HALF}' where ${column} is not null`);
  database.exec(`update meta set value = '${HALF}' where substr(value, 1, 1) in ('{', '[')`);
  return damageIn(file);
}

/** The columns with damaged values, and how many. */
function damageIn(file: string): string[] {
  using database = new DatabaseSync(file, { readOnly: true });
  return [...jsonColumns(database), { table: 'meta', column: 'value' }].flatMap(({ table, column }) => {
    const count = database.prepare(`select count(*) as n from ${table} where ${column} = ?`).get(HALF)?.n;
    return count === 0 ? [] : [`${table}.${column}: ${count}`];
  });
}

function jsonColumns(database: DatabaseSync): { table: string; column: string }[] {
  const tables = Names.parse(database.prepare("select name from sqlite_master where type = 'table'").all());
  return tables
    .filter(({ name }) => !CHECKED.includes(name))
    .flatMap(({ name: table }) => {
      const columns = Names.parse(database.prepare('select name from pragma_table_info(?)').all(table));
      return columns.filter(({ name }) => name.endsWith('_json')).map(({ name: column }) => ({ table, column }));
    });
}
