// `npm run bench`: measures every row in alternating rounds, prints a table and writes bench/latest.json. See README.md.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { wordsOf } from '../protocol/words-of.ts';
import { systemClock } from '../src/clock.ts';
import { CALLERS, type LoadCaller } from './credential.ts';
import { describeCommit, describeMachine, isCheckoutChanged } from './machine.ts';
import { compare, measure, type Row, type RowResult } from './row.ts';
import { ROWS } from './rows.ts';
import { createStage, preparePrograms } from './stage.ts';
import { type Report, toCells, toChange, toText } from './table.ts';

const USAGE = `npm run bench -- [options]

  --only ROW        only the rows whose names begin so; may be repeated
  --rounds N        rounds of each row; default 5
  --quick           less load and one round: whether everything works, not how fast it is
  --json FILE       write the results to FILE; without --only and --quick the default is bench/latest.json
  --against FOLDER  compare with the build in another checkout
  --auth WHO        who the load is: operator (default), user (logged in with a role), or both: compare user with operator
  --list            list the rows
  --help            show this help
`;
const values = readFlags();

// An interruption must not leave servers behind; they end when this process exits normally.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const PUBLISHED_ROUNDS = 3;
const LATEST = path.join(import.meta.dirname, 'latest.json');
const rows = chosen(values.only);
if (values.help) say(USAGE.trimEnd());
else if (values.list) say(ROWS.map(({ name, what }) => `${name.padEnd(16)} ${what}`).join('\n'));
else if (values.auth === 'both') await runAsBoth();
else if (values.against === undefined) await run();
else await runAgainst(path.resolve(values.against));

async function run(): Promise<void> {
  const { quick } = values;
  const rounds = roundsOf(values);
  const caller = callerOf(values.auth);
  const isPart = quick || caller !== 'operator' || rows.length < ROWS.length;
  const file = values.json === undefined ? (isPart ? undefined : LATEST) : path.resolve(values.json);
  if (file === LATEST) requireWorth({ isPart, rounds });
  const commit = describeCommit();
  const results: RowResult[] = [];
  const machine = describeMachine();
  await using programs = await preparePrograms();
  for (const row of rows) {
    await using stage = createStage(programs, { quick, caller });
    const result = await measure(row, stage, rounds).catch((error: unknown) => notMeasured(row, error));
    if (result === undefined) continue;
    results.push(result);
    process.stderr.write(`${toCells(result).join('  ')}\n`);
  }
  const report: Report = {
    date: new Date(systemClock.now()).toISOString(),
    commit,
    machine,
    quick,
    rows: results,
  };
  say(toText(report));
  if (file === LATEST && results.length < rows.length) refuse('bench/latest.json stays as it is: a row is missing');
  if (file !== undefined) await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}

/** A row that fails must not cost the results of an hour. */
function notMeasured({ name }: Row, error: unknown): undefined {
  process.stderr.write(`${name}  not measured: ${wordsOf(error)}\n`);
  process.exitCode = 1;
}

/** Compares this build with the one in another checkout, row by row. */
async function runAgainst(checkout: string): Promise<void> {
  const { quick } = values;
  if (!existsSync(path.join(checkout, 'dist'))) refuse(`${checkout} has no build: run npm ci && npm run build there`);
  const caller = callerOf(values.auth);
  await using ours = await preparePrograms();
  await using theirs = await preparePrograms(checkout);
  for (const row of rows) {
    await using now = createStage(ours, { quick, caller });
    await using before = createStage(theirs, { quick, caller });
    await sayChange(row, { now, before });
  }
}

/** Compares a user who has logged in with the operator, row by row. */
async function runAsBoth(): Promise<void> {
  const { quick } = values;
  if (values.against !== undefined) refuse('--auth both compares one build; leave out --against');
  await using programs = await preparePrograms();
  for (const row of rows) {
    await using now = createStage(programs, { quick, caller: 'user' });
    await using before = createStage(programs, { quick, caller: 'operator' });
    await sayChange(row, { now, before });
  }
}

async function sayChange(row: Row, stages: Parameters<typeof compare>[1]): Promise<void> {
  const compared = compare(row, stages, roundsOf(values));
  say(await compared.then(toChange, (error: unknown) => `${row.name.padEnd(17)} not compared: ${String(error)}`));
}

function callerOf(name: string): LoadCaller {
  return CALLERS.find((caller) => caller === name) ?? refuse(`--auth is operator, user or both, not ${name}`);
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        against: { type: 'string' },
        auth: { type: 'string', default: 'operator' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    return refuse(`${wordsOf(error)}\n\n${USAGE}`);
  }
}

function roundsOf({ rounds = '', quick }: { rounds?: string | undefined; quick: boolean }): number {
  if (rounds === '') return quick ? 1 : 5;
  return /^[1-9]\d{0,2}$/.test(rounds) ? Number(rounds) : refuse(`--rounds is a number from 1 to 999, not ${rounds}`);
}

/** All rows, or the named ones; `fan-out` selects every row that begins so. */
function chosen(names: readonly string[]): readonly Row[] {
  const unknown = names.find((name) => !ROWS.some((row) => row.name.startsWith(name)));
  if (unknown === undefined)
    return ROWS.filter(({ name }) => names.length === 0 || names.some((n) => name.startsWith(n)));
  return refuse(`unknown row ${unknown}. List the rows with --list`);
}

/** Published results must be reproducible: all rows, on a clean commit, with enough rounds for a spread. */
function requireWorth({ isPart, rounds }: { isPart: boolean; rounds: number }): void {
  const why = isPart
    ? 'every row at full load, as the operator'
    : !(rounds >= PUBLISHED_ROUNDS)
      ? `at least ${PUBLISHED_ROUNDS} rounds`
      : isCheckoutChanged()
        ? 'a checkout without changes'
        : undefined;
  if (why !== undefined) refuse(`bench/latest.json requires ${why}. To write elsewhere, use --json FILE`);
}

function refuse(why: string): never {
  process.stderr.write(`bench: ${why}\n`);
  process.exit(2);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
