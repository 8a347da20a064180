import { openSync, writeSync } from 'node:fs';
import process from 'node:process';
import { inspect } from 'node:util';

/**
 * A reporter of node:test for `run-files.js`: one line of JSON for each start, diagnostic and end of a test, in the file that
 * TEST_REPORT names. It writes by itself, because lines that Node writes for it are lost if the process is killed meanwhile.
 */
// biome-ignore lint/style/noDefaultExport: node:test requires a default export.
// biome-ignore lint/correctness/useYield: nothing is left for Node to write.
export default async function* lineReporter(events) {
  const report = openSync(process.env.TEST_REPORT, 'a');
  for await (const { type, data } of events) {
    const entry = data.details?.type === 'suite' ? undefined : toEntry(type, data);
    if (entry !== undefined) writeSync(report, `${JSON.stringify(entry)}\n`);
  }
}

function toEntry(type, { name, nesting, file, line, skip, todo, tags, details, message }) {
  if (type === 'test:dequeue') return { outcome: 'begun', name, file };
  if (type === 'test:diagnostic') return { outcome: 'told', file, line, message };
  if (type !== 'test:pass' && type !== 'test:fail') return undefined;
  if (skip !== undefined || todo !== undefined)
    return { outcome: 'skipped', name, file, line, tags, reason: typeof skip === 'string' ? skip : 'no reason given' };
  const ms = nesting === 0 ? details?.duration_ms : 0; // the time of a test includes its subtests
  if (type === 'test:pass') return { outcome: 'passed', name, file, ms };
  return { outcome: 'failed', name, file, line, ms, reason: reasonOf(details?.error) };
}

/** The error of the test, without the wrapper of the runner, and what caused it: `fetch failed` alone says nothing. */
function reasonOf(error) {
  const thrown = error?.cause ?? error;
  if (!(thrown instanceof Error)) return inspect(thrown);
  const text = thrown.stack ?? thrown.message;
  return thrown.cause === undefined ? text : `${text}\ncaused by ${inspect(thrown.cause)}`;
}
